import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { call, overStdio } from './mcp-client.ts'
import { createPerson, remote, type Person } from './person.ts'
import { bin, startService, startSvc, svc, type Service } from './processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const config = { SVC_CONFIG_DIR: join(folder.path, 'config') }
let service: Service
let env: Record<string, string>
let people = 0
const person = (): Promise<Person> => createPerson(remote(service.baseUrl, key), (people += 1))

beforeAll(async () => {
  service = await startService(join(folder.path, 'data'), key, ['--dev'])
  env = { ...config, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key }
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

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
    await svc(['key', 'create', '--name', `with ${scopes}`, '--can', scopes, '--jq', '.key'], env)
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
  const guarded = await startService(data, key, ['--dev'], {
    MCP_AUTH_TOKEN: 'the-right-bearer-32-characters-long',
  })
  onTestFinished(async () => void (await guarded.stop()))
  const there = { SVC_CONFIG_DIR: join(data, 'config') }
  const mcpUrl = new URL('/mcp', guarded.baseUrl).href
  const local = ['profile', 'create', 'local', '--base-url', guarded.baseUrl, '--mcp-url', mcpUrl]
  expect(await svc(local, there)).toMatchObject({ exit: 0 })
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

/** Starts a printed configuration in its own environment, as a client does. */
const startPasted = async (json: string, name = 'svc') => {
  const { command, args, env: own } = JSON.parse(json).mcpServers[name]
  const client = new Client({ name: 'Pasted', version: '1' })
  await client.connect(new StdioClientTransport({ command, args, env: own, stderr: 'ignore' }))
  return client
}

describe('svc mcp config', () => {
  test.each(['claude', 'cursor', 'vscode', 'gemini', 'generic'])(
    'prints JSON without a secret for %s',
    async (client) => {
      const { exit, stdout, stderr } = await svc(['mcp', 'config', client], { ...env, SVC_ORG: 'acme' })
      expect(exit).toBe(0)
      const { servers, mcpServers } = JSON.parse(stdout)
      expect((servers ?? mcpServers).svc).toMatchObject({
        command: process.execPath,
        args: [bin, 'mcp'],
        env: { SVC_BASE_URL: service.baseUrl, SVC_ORG: 'acme', SVC_API_KEY: expect.any(String) },
      })
      expect(stdout + stderr).not.toContain(key)
      expect(stderr).toMatch(/^# /)
      expect(stderr).toContain('SVC_API_KEY: ')
    },
  )

  test('prints TOML for Codex, which takes secrets from its environment', async () => {
    const { exit, stdout, stderr } = await svc(['mcp', 'config', 'codex'], env)
    expect(exit).toBe(0)
    expect(parse(stdout)).toEqual({
      mcp_servers: {
        svc: {
          command: process.execPath,
          args: [bin, 'mcp'],
          tool_timeout_sec: 600,
          env_vars: ['SVC_API_KEY'],
          env: { SVC_BASE_URL: service.baseUrl },
        },
      },
    })
    expect(stdout + stderr).not.toContain(key)
    expect(stderr).toContain('# Codex: ~/.codex/config.toml')
    const http = await svc(['mcp', 'config', 'codex', '--http'], {
      ...env,
      SVC_MCP_URL: 'https://svc.example.com/mcp',
      MCP_AUTH_TOKEN: 'a-secret',
    })
    expect(parse(http.stdout)).toEqual({
      mcp_servers: {
        svc: {
          url: 'https://svc.example.com/mcp',
          tool_timeout_sec: 600,
          bearer_token_env_var: 'MCP_AUTH_TOKEN',
        },
      },
    })
    const json = await svc(['mcp', 'config', 'codex', '--jq', '.mcp_servers.svc.tool_timeout_sec'], env)
    expect(json.stdout).toBe('600\n')
  })

  test('works as pasted with the profile of a local service, and uses the key of the profile', async () => {
    const saved = { SVC_CONFIG_DIR: join(folder.path, 'saved') }
    const mcp = new URL('/mcp', service.baseUrl).href
    const added = await svc(
      ['profile', 'create', 'local', '--base-url', service.baseUrl, '--mcp-url', mcp, '--with-key'],
      saved,
      key,
    )
    expect(added).toMatchObject({ exit: 0 })
    const { stdout, stderr } = await svc(['mcp', 'config', 'claude'], saved)
    expect(stdout).not.toMatch(/MCP_AUTH_TOKEN|SVC_API_KEY|<your/)
    expect(stderr).not.toContain('secret')
    const ada = await person()
    const client = await startPasted(stdout)
    await client.callTool({
      name: 'request_approval_async',
      arguments: { action: 'Deploy', approver_mobile: ada.mobile },
    })
    expect(await ada.requests('pending')).toMatchObject([
      { requester: 'Pasted', verified_as: expect.stringMatching(/^key "/) },
    ])
    await ada.answer({ decision: 'deny' })
    await client.close()
  })

  test('prints the tool server over HTTP, with a bearer only if one is required', async () => {
    const local = { ...config, SVC_MCP_URL: new URL('/mcp', service.baseUrl).href }
    const open = await svc(['mcp', 'config', 'claude', '--http'], local)
    expect(JSON.parse(open.stdout)).toEqual({ mcpServers: { svc: { type: 'http', url: local.SVC_MCP_URL } } })
    const guarded = await svc(['mcp', 'config', 'claude', '--http'], { ...local, MCP_AUTH_TOKEN: key })
    expect(JSON.parse(guarded.stdout).mcpServers.svc.headers).toEqual({
      Authorization: 'Bearer ${MCP_AUTH_TOKEN}',
    })
    expect(guarded.stdout + guarded.stderr).not.toContain(key)
    const remote = { ...config, SVC_MCP_URL: 'https://svc.example.com/mcp' }
    const alone = await svc(['mcp', 'config', 'vscode', '--http'], remote)
    expect(JSON.parse(alone.stdout)).toEqual({
      servers: { svc: { type: 'http', url: 'https://svc.example.com/mcp' } },
      inputs: [],
    })
    const vscode = await svc(['mcp', 'config', 'vscode', '--http'], { ...remote, MCP_AUTH_TOKEN: key })
    expect(JSON.parse(vscode.stdout)).toMatchObject({
      servers: { svc: { headers: { Authorization: 'Bearer ${input:mcp-auth-token}' } } },
      inputs: [{ id: 'mcp-auth-token', password: true }],
    })
    expect((await svc(['mcp', 'config', 'claude', '--http'], config)).exit).toBe(2)
  })

  test('lists the supported clients', async () => {
    const { exit, stderr } = await svc(['mcp', 'config', 'emacs'], env)
    expect(exit).toBe(2)
    expect(stderr).toContain('claude, cursor, vscode, codex, gemini or generic')
  })
})
