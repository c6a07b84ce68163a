import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { selfSigned } from '../certificate.ts'
import { installHooks as installGate, path, service, startGate } from './gate-run.ts'

// A server with streamable HTTP that records what it receives.
type Received = { method: string; headers: IncomingHttpHeaders; body: string }
export const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'robot', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
export let received: Received[] = []
/** What the server does instead of answering. */
export const server: {
  redirects?: boolean
  dies?: boolean
  otherAnswer?: { status: number; type: string; body: string } | undefined
} = {}
const tools = [
  { name: 'write_file', inputSchema: { type: 'object' } },
  { name: 'read_file', inputSchema: {} },
  {
    name: 'move_file',
    inputSchema: { properties: { to: { type: 'string', 'x-mcp-header': 'To' }, name: { type: 'string' } } },
  },
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
const listener: RequestListener = async (request, response) => {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  received.push({ method: request.method!, headers: request.headers, body })
  if (request.method !== 'POST') return response.writeHead(405).end()
  const { id, method } = JSON.parse(body)
  if (server.dies && method === 'tools/call') return request.socket.destroy()
  if (server.redirects)
    return response.writeHead(307, { location: `http://${request.headers.host}/other` }).end()
  const { otherAnswer: other } = server
  if (other && method === 'tools/call')
    return response.writeHead(other.status, { 'content-type': other.type }).end(other.body)
  if (id === undefined) return response.writeHead(202).end()
  const session = method === 'initialize' ? { 'mcp-session-id': 'session-1' } : {}
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: results[method] })
  if (method !== 'tools/call')
    return response.writeHead(200, { 'content-type': 'application/json', ...session }).end(answer)
  return response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${answer}\n\n`)
}
export const { cert, key } = selfSigned()
const servers = { http: createServer(listener), https: createSecureServer({ cert, key }, listener) }
export const urls = { http: '', https: '' }
export let url: string
/** Installs the set-up hooks in the test file that calls it. */
export const installHooks = (): void => {
  installGate()
  beforeAll(async () => {
    for (const scheme of ['http', 'https'] as const) {
      const listening = servers[scheme]
      await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
      urls[scheme] = `${scheme}://127.0.0.1:${(listening.address() as AddressInfo).port}/mcp`
    }
    url = urls.http
  })
  afterAll(() => {
    servers.http.close()
    servers.https.close()
  })
}

export const start = (to = url, ...more: string[]) => {
  received = []
  for (const name of ['redirects', 'dies', 'otherAnswer'] as const) delete server[name]
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
      to,
      '--header-file',
      headers,
      ...more,
    ],
    passed: {},
  })
}
export const calls = (): Received[] => received.filter(({ body }) => body.includes('"tools/call"'))
export const lists = (): number => received.filter(({ body }) => body.includes('"tools/list"')).length
