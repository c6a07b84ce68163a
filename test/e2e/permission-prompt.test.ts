import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, expect, test } from 'vitest'
import { decide, env, installHooks, ok, path, service } from './approvals.ts'
import { eras, type Era } from './mcp-client.ts'
import { bin, svc } from './processes.ts'

installHooks()

const agent = () => ({
  SVC_BASE_URL: service.baseUrl,
  SVC_CONFIG_DIR: path('agent'),
  SVC_ASK_KEY: env.SVC_ASK_KEY!,
  SVC_DEFAULT_MOBILE: env.SVC_DEFAULT_MOBILE!,
  SVC_ORG: 'acme',
})

let client: Client | undefined
afterEach(() => client?.close())

const connect = async (mode: Era, more: Record<string, string> = {}): Promise<Client> => {
  client = new Client({ name: 'claude-code', version: '1' }, { versionNegotiation: { mode } })
  const args = [bin, 'mcp', '--permission-prompt']
  const childEnv = { PATH: process.env.PATH!, ...agent(), ...more }
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
const pending = async (): Promise<string> => {
  for (;;) {
    const list = ['approve', 'list', '--status', 'pending', '--to', env.SVC_DEFAULT_MOBILE!, '-o', 'id']
    const id = (await ok(list)).trim()
    if (id !== '') return id
  }
}

test.each(eras)('allows a call with exactly the approved input, and denies one (%s)', async (_, mode) => {
  await connect(mode)
  expect((await client!.listTools()).tools.map(({ name }) => name)).toEqual(['permission_prompt'])
  const allowed = ask()
  const id = await pending()
  const { subject } = JSON.parse(await ok(['approve', 'status', id, '-o', 'json']))
  expect(subject.data).toMatchObject({ server: 'Claude Code', tool: 'Bash', arguments: asked.input })
  await decide('approve', id)
  expect(await allowed).toEqual({ behavior: 'allow', updatedInput: asked.input })
  const denied = ask()
  await decide('deny', await pending())
  expect(await denied).toEqual({
    behavior: 'deny',
    message: expect.stringContaining('Not approved (denied): the call did not run'),
  })
})

test('denies what it cannot read, and a call if the service does not answer', async () => {
  await connect('legacy', { SVC_BASE_URL: 'http://127.0.0.1:1/' })
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
  const id = await pending()
  await client!.close()
  await left
  const { stdout } = await svc(['approve', 'wait', id, '--jq', '.status'], env)
  expect(stdout.trim()).toBe('expired')
})

test('does not start without an approver', async () => {
  const { SVC_DEFAULT_MOBILE: _, ...without } = agent()
  expect(await svc(['mcp', '--permission-prompt'], without)).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('has no approver'),
  })
})
