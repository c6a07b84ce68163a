import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decide, env, installHooks, ok, path, pending, people, service } from './approvals.ts'
import { eras, type Era } from './mcp-client.ts'
import { prepare } from './prepare.ts'
import { bin, svc } from './processes.ts'
import { machine } from '../machine.ts'

installHooks()

/** The profile of the user names the approver; the flags name the service and a key that can only request approvals. */
const config = () => ({ SVC_CONFIG_DIR: path(`agent-${people}`) })
const way = () => ['--base-url', service.baseUrl, '--key-file', path('ask.key')]
beforeEach(async () => {
  writeFileSync(path('ask.key'), env.SVC_ASK_KEY!, { mode: 0o600 })
  const settings = [`default_mobile=${env.SVC_DEFAULT_MOBILE!}`, 'org=acme']
  for (const args of [
    ['create', 'own', '--base-url', service.baseUrl],
    ['set', ...settings],
  ])
    await prepare(['profile', ...args], config())
})

let client: Client | undefined
afterEach(() => client?.close())

const connect = async (
  mode: Era,
  { variables = {}, flags = way() }: { variables?: Record<string, string>; flags?: string[] } = {},
): Promise<Client> => {
  client = new Client({ name: 'claude-code', version: '1' }, { versionNegotiation: { mode } })
  const args = [bin, 'mcp', '--permission-prompt', ...flags]
  const childEnv = { ...machine, ...config(), ...variables }
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: childEnv, stderr: 'ignore' }),
  )
  return client
}

const asked = {
  tool_name: 'Bash',
  input: { command: 'rm -r dist', description: 'Cleans' },
  tool_use_id: 'toolu_1',
}
const ask = async (args: Record<string, unknown> = asked) => {
  const { content } = await client!.callTool({ name: 'permission_prompt', arguments: args })
  return JSON.parse((content as { text: string }[])[0]!.text) as Record<string, unknown>
}
test.each(eras)('allows a call with exactly the approved input, and denies one (%s)', async (_, mode) => {
  await connect(mode)
  expect((await client!.listTools()).tools.map(({ name }) => name)).toEqual(['permission_prompt'])
  const allowed = ask()
  const { request_id: id } = await pending()
  const { subject } = JSON.parse(await ok(['approve', 'status', id, '-o', 'json']))
  expect(subject.data).toMatchObject({ server: 'Claude Code', tool: 'Bash', arguments: asked.input })
  await decide('approve', id)
  expect(await allowed).toEqual({ behavior: 'allow', updatedInput: asked.input })
  const denied = ask()
  await decide('deny', (await pending()).request_id)
  expect(await denied).toEqual({
    behavior: 'deny',
    message: expect.stringContaining('Not approved (denied): the call did not run'),
  })
})

test('denies what it cannot read, and a call if the service does not answer', async () => {
  await connect('legacy', { flags: ['--base-url', 'http://127.0.0.1:1/', '--key-file', path('ask.key')] })
  expect(await ask()).toMatchObject({ behavior: 'deny', message: expect.stringContaining('Nothing answers') })
  for (const args of [
    {},
    { tool_name: 'Bash' },
    { tool_name: '', input: {} },
    { tool_name: 'Bash', input: [] },
  ])
    expect(await ask(args)).toMatchObject({
      behavior: 'deny',
      message: expect.stringContaining('svc can read'),
    })
  expect(await ask({ tool_name: 'Write', input: { content: 'x'.repeat(40_000) } })).toMatchObject({
    behavior: 'deny',
    message: expect.stringContaining('cannot be shown to a person'),
  })
})

test('withdraws the request when the client ends', async () => {
  await connect('legacy')
  const left = ask().catch(() => undefined)
  const { request_id: id } = await pending()
  await client!.close()
  await left
  const { stdout } = await svc(['approve', 'wait', id, '--jq', '.status'], env)
  expect(stdout.trim()).toBe('expired')
})

// Claude Code passes on the variables in the settings of a project.
test('does not let variables of a project choose the service, the key, the profile or the approver', async () => {
  const variables = {
    SVC_BASE_URL: 'http://127.0.0.1:1/',
    SVC_MCP_URL: 'http://127.0.0.1:1/mcp',
    SVC_API_KEY: 'svc_of_another_service',
    SVC_ASK_KEY: 'svc_of_another_service',
    SVC_PROFILE: 'nobody',
    SVC_ORG: 'other',
    SVC_DEFAULT_MOBILE: '+12025550199',
    MCP_AUTH_TOKEN: 'token',
  }
  await connect('legacy', { variables })
  const answer = ask()
  await decide('deny', (await pending()).request_id)
  expect(await answer).toMatchObject({ message: expect.stringContaining('Not approved (denied)') })
})

test('says which variables it does not use', async () => {
  const { stderr } = await svc(['mcp', '--permission-prompt', ...way()], {
    ...config(),
    SVC_BASE_URL: 'http://127.0.0.1:1/',
  })
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain('SVC_BASE_URL from the environment is not used')
})

test('does not start without an approver', async () => {
  const without = { SVC_CONFIG_DIR: path('nobody'), SVC_DEFAULT_MOBILE: env.SVC_DEFAULT_MOBILE! }
  expect(await svc(['mcp', '--permission-prompt', ...way()], without)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('has no approver'),
  })
})
