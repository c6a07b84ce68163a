import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, overStdio } from './mcp-client.ts'
import { config, env, folder, installHooks, key, person, service } from './mcp-stage.ts'
import type { Person } from './person.ts'
import { startSvc, svc } from './processes.ts'
import { startServiceHere } from './service-here.ts'
import { svcHere } from './prepare.ts'

installHooks()

/** Starts `svc mcp` with one call that waits. */
const waitingProcess = async (bob: Person) => {
  const child = startSvc(
    ['mcp'],
    { ...env, SVC_DEFAULT_MOBILE: bob.mobile },
    { stdio: ['pipe', 'pipe', 'ignore'] },
  )
  const lines = createInterface({ input: child.stdout! })
  const written: string[] = []
  lines.on('line', (line) => written.push(line))
  const send = (message: object): boolean =>
    child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'robot', version: '1' }
  send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  send({
    id: 1,
    method: 'tools/call',
    params: { name: 'request_approval', arguments: { action: 'Wait for me' } },
  })
  await bob.waitForRequest()
  return { child, written }
}

describe('svc mcp', () => {
  test.each([
    ['its input ends', (child: ChildProcess) => child.stdin!.end()],
    ['SIGTERM arrives', (child: ChildProcess) => child.kill('SIGTERM')],
    ['SIGINT arrives', (child: ChildProcess) => child.kill('SIGINT')],
    ['its output closes', (child: ChildProcess) => child.stdout!.destroy()],
  ])('withdraws pending requests when %s', async (_, end) => {
    const bob = await person()
    const { child, written } = await waitingProcess(bob)
    onTestFinished(() => void child.kill('SIGKILL'))
    end(child)
    const [exit] = await once(child, 'exit')
    expect(exit).toBe(0)
    expect(await bob.requests('pending')).toEqual([])
    for (const line of written) expect(JSON.parse(line).jsonrpc).toBe('2.0')
  })
})

/** Creates a key of the whole service with these scopes. */
const keyWith = async (scopes: string): Promise<string> =>
  (
    await svcHere(['key', 'create', '--name', `with ${scopes}`, '--can', scopes, '--jq', '.key'], env)
  ).stdout.trim()

describe('the key of svc mcp', () => {
  test('is the ask key, even when an API key is set', async () => {
    const bob = await person()
    const client = await overStdio('legacy', {
      ...config,
      SVC_BASE_URL: service.baseUrl,
      SVC_ASK_KEY: await keyWith('ask'),
    })
    onTestFinished(() => client.close())
    const reply = await call(client, 'request_approval_async', {
      action: 'Deploy',
      approver_mobile: bob.mobile,
    })
    expect(reply.result).toMatchObject({ status: 'pending' })
    expect(await bob.requests('pending')).toMatchObject([{ verified_as: 'key "with ask"' }])
  })

  test('is rejected with the name of the missing scope', async () => {
    const bob = await person()
    const client = await overStdio('legacy', { ...env, SVC_API_KEY: await keyWith('read') })
    onTestFinished(() => client.close())
    const { isError, text } = await call(client, 'request_approval', {
      action: 'Deploy',
      approver_mobile: bob.mobile,
    })
    expect(isError).toBe(true)
    expect(text).toBe(
      'This key cannot do that: it requires the scope "ask". Next: tell the user that the key of these tools cannot request approvals, ' +
        'and that an administrator must create one with the scope "ask". This is not an approval.',
    )
    expect(await bob.requests('pending')).toEqual([])
  })
})

describe('a bad environment', () => {
  test.each([
    [{ SVC_DEFAULT_MOBILE: '2025550101' }, /SVC_DEFAULT_MOBILE must be a phone number in E\.164/],
    [{ SVC_DEFAULT_FACTORS: 'biometric,retina' }, /SVC_DEFAULT_FACTORS contains "retina"/],
    [{ SVC_REQUEST_FROM: 'a\nb' }, /SVC_REQUEST_FROM must be one line/],
    [{ SVC_MCP_URL: 'https://host.example/api' }, /SVC_MCP_URL must end in \/mcp/],
    [{ SVC_MCP_URL: 'http://host.example/mcp', MCP_AUTH_TOKEN: 'x' }, /over plain http/],
    [{ SVC_BASE_URL: 'ftp://host.example' }, /SVC_BASE_URL must start with http/],
    [{ SVC_API_KEY: 'a b' }, /SVC_API_KEY cannot be used/],
  ])('fails before the protocol starts: %j', async (bad, message) => {
    const { exit, stdout, stderr } = await svc(['mcp'], { ...config, ...(bad as Record<string, string>) })
    expect([exit, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(message)
  })
})

test('the demo prints first that it never approves', async () => {
  const { exit, stdout, stderr } = await svc(['mcp'], config)
  expect([exit, stdout]).toEqual([0, ''])
  expect(stderr.split('\n')[0]).toMatch(/^svc mcp: demo that never approves: no API key/)
})

test.each([
  ['no bearer', {}, 'requires a bearer'],
  [
    'a wrong bearer',
    { MCP_AUTH_TOKEN: 'the-bearer-of-another-service-32-chars' },
    'does not accept this bearer',
  ],
])('a profile with a guarded tool server and %s does not connect', async (name, bearer, message) => {
  const data = join(folder.path, name)
  const right = { MCP_AUTH_TOKEN: 'the-right-bearer-32-characters-long' }
  const guarded = await startServiceHere(data, key, { dev: true, env: right })
  onTestFinished(async () => void (await guarded.stop()))
  const there = { SVC_CONFIG_DIR: join(data, 'config') }
  const mcpUrl = new URL('/mcp', guarded.baseUrl).href
  const local = ['profile', 'create', 'local', '--base-url', guarded.baseUrl, '--mcp-url', mcpUrl]
  expect(await svcHere(local, there)).toMatchObject({ exit: 0 })
  const { exit, stdout, stderr } = await svc(['mcp'], { ...there, ...bearer })
  expect([exit, stdout]).toEqual([4, ''])
  expect(stderr).toContain(message)
})

test.each(['SVC_API_KEY', 'SVC_ASK_KEY'])('a wrong %s does not connect', async (name) => {
  const wrong = `${key.slice(0, -4)}xxxx`
  const { exit, stdout, stderr } = await svc(['mcp'], { ...env, [name]: wrong })
  expect([exit, stdout]).toEqual([4, ''])
  expect(stderr).toContain(name)
  expect(stderr).not.toContain(wrong)
})

test('a key for a service that does not answer yet connects', async () => {
  const there = { ...config, SVC_BASE_URL: 'http://127.0.0.1:9/', SVC_API_KEY: key }
  expect(await svc(['mcp'], there)).toMatchObject({ exit: 0 })
})

test('a profile with a tool server that does not answer yet connects', async () => {
  const there = { SVC_CONFIG_DIR: join(folder.path, 'absent'), SVC_MCP_URL: 'http://127.0.0.1:9/mcp' }
  expect(await svc(['mcp'], there)).toMatchObject({ exit: 0 })
})
