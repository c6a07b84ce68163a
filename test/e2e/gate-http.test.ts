import { createServer, type IncomingHttpHeaders } from 'node:http'
import { chmodSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ada, installHooks, path, requests, rulesFor, service, startGate } from './gate-run.ts'
import { svc } from './processes.ts'

installHooks()

// A server with streamable HTTP that records what it receives.
type Received = { method: string; headers: IncomingHttpHeaders; body: string }
let received: Received[] = []
let redirects = false
let dies = false
const tools = [
  { name: 'write_file', inputSchema: { type: 'object' } },
  { name: 'read_file', inputSchema: {} },
]
const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'x', version: '1' },
  },
  'tools/list': { tools },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}
const http = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  received.push({ method: request.method!, headers: request.headers, body })
  if (request.method !== 'POST') return response.writeHead(405).end()
  const { id, method } = JSON.parse(body)
  if (dies && method === 'tools/call') return request.socket.destroy()
  if (redirects) return response.writeHead(307, { location: `http://${request.headers.host}/other` }).end()
  if (id === undefined) return response.writeHead(202).end()
  const session = method === 'initialize' ? { 'mcp-session-id': 'session-1' } : {}
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })
  if (method !== 'tools/call')
    return response.writeHead(200, { 'content-type': 'application/json', ...session }).end(answer)
  return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${answer}\n\n`)
})
let url: string
beforeAll(async () => {
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
})
afterAll(() => void http.close())

const start = () => {
  received = []
  redirects = false
  dies = false
  const headers = path('headers')
  writeFileSync(headers, 'Authorization: Bearer of-the-server\n', { mode: 0o600 })
  return startGate({
    server: [],
    flags: [
      '--base-url',
      service.baseUrl,
      '--key-file',
      path('ask.key'),
      '--url',
      url,
      '--header-file',
      headers,
    ],
    passed: {},
  })
}
const calls = (): Received[] => received.filter(({ body }) => body.includes('"tools/call"'))

describe('svc mcp gate --url', () => {
  test('sends the exact bytes of an approved call once, with its headers and in its session', async () => {
    const gate = await start()
    const line =
      '{"jsonrpc":"2.0", "id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"n":1.50,"t":"\\u006f"}}}'
    gate.write(line)
    await ada.waitForRequest()
    expect(calls()).toEqual([])
    await ada.answer()
    expect((await gate.answer(7)).result.content[0].text).toBe('done')
    expect(calls()).toMatchObject([
      {
        body: line,
        headers: {
          authorization: 'Bearer of-the-server',
          'mcp-session-id': 'session-1',
          'mcp-protocol-version': '2025-11-25',
        },
      },
    ])
    expect((await gate.close()).exit).toBe(0)
    expect(received.at(-1)!.method).toBe('DELETE')
  })

  test('sends nothing of a denied call, and what a rule lets pass at once', async () => {
    const gate = await start()
    gate.call(1, 'write_file')
    gate.call(2, 'read_file')
    expect((await gate.answer(2)).result.content[0].text).toBe('done')
    await ada.answer({ decision: 'deny' })
    expect((await gate.answer(1)).result.isError).toBe(true)
    expect(calls()).toHaveLength(1)
    await gate.close()
  })

  test('says that the outcome is unknown when the server ends in the middle of a call, and does not repeat it', async () => {
    const gate = await start()
    gate.call(1, 'read_file')
    await gate.answer(1)
    gate.call(2, 'write_file')
    await ada.waitForRequest()
    dies = true
    await ada.answer()
    expect((await gate.answer(2)).error.message).toContain('It is not known whether it was carried out')
    expect(calls()).toHaveLength(2)
    await gate.close()
  })

  test('follows no redirect, and answers the call with an error', async () => {
    const gate = await start()
    gate.call(1, 'read_file')
    await gate.answer(1)
    redirects = true
    gate.call(2, 'read_file')
    expect((await gate.answer(2)).error.message).toContain('did not answer')
    expect(calls()).toHaveLength(2)
    await gate.close()
    expect(await requests('pending')).toEqual([])
  })

  test('refuses an address or a header file that would reveal credentials', async () => {
    const rules = path('rules.yaml')
    writeFileSync(rules, rulesFor(ada.mobile))
    const gate = (...args: string[]) =>
      svc(['mcp', 'gate', '--rules', rules, ...args], { SVC_CONFIG_DIR: path('config') })
    writeFileSync(path('open'), 'Authorization: Bearer secret-1\n')
    chmodSync(path('open'), 0o644)
    writeFileSync(path('odd'), 'secret-2\n', { mode: 0o600 })
    const bad: [string[], string][] = [
      [['--url', 'http://example.com/mcp'], 'must start with https://'],
      [['--url', 'https://user:secret-3@example.com/mcp'], 'must not contain a user name'],
      [['--url', 'nonsense'], '--url is not a valid address: "nonsense"'],
      [['--url', url, '--header-file', path('open')], 'Others can read'],
      [['--url', url, '--header-file', path('odd')], 'line 1 of'],
      [['--url', url, '--env', 'HOME'], '--env is only for a server that svc starts'],
      [['--url', url, '--', 'node'], 'Name one server'],
      [[], 'Name one server'],
      [['--env', 'API_TOKEN=secret-4', '--', 'node'], '--env API_TOKEN'],
      [['--env', 'SVC_API_KEY', '--', 'node'], 'a credential or setting of svc'],
      [['-o', 'json', '--', 'node'], '-o is only for --check'],
    ]
    for (const [args, part] of bad) {
      const { exit, stdout, stderr } = await gate(...args)
      expect([exit === 0, stdout, stderr]).toEqual([false, '', expect.stringContaining(part)])
      expect(stderr).not.toContain('secret-')
    }
  })
})
