import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { json } from '../../fake-hosted.ts'
import { startExactHosted, type ExactHosted } from '../../exact-hosted.ts'
import { svc } from '../svc.ts'

const pending = {
  status: 'pending',
  request_id: 'r-1',
  approver_mobile: '+12025550101',
  expires_at: '2030-01-01T00:00:00Z',
}

let service: ExactHosted
let folder: ReturnType<typeof temporaryFolder>
beforeEach(async () => {
  folder = temporaryFolder()
  service = await startExactHosted({ routes: [], tools: { request_approval_async: pending } })
})
afterEach(async () => {
  await service.close()
  folder.remove()
})

const run = async (words: string[], env: Record<string, string> = { SVC_MCP_URL: service.mcpUrl }) => {
  const where = { SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'key' }
  const ran = await svc(['approve', ...words, '-o', 'json'], { cwd: folder.path, env: { ...where, ...env } })
  return { ...ran, out: ran.out === '' ? undefined : ran.data() }
}
const calls = () =>
  service.seen
    .filter(({ path }) => path === '/mcp')
    .map(({ body }) => JSON.parse(body))
    .filter(({ method }) => method === 'tools/call')
    .map(({ params }) => [params.name, params.arguments])
const submit = ['submit', 'Deploy', '--to', '+12025550101']

describe.each([
  ['with --mcp', ['--mcp']],
  ['when the service has no approvals', []],
])('through the tools, %s', (_, flag) => {
  test('submit prints the request, and status prints its result', async () => {
    const done = await run([...submit, '--reason', 'why', ...flag])
    expect([done.exit, done.out]).toEqual([0, { ...pending, action: 'Deploy' }])
    expect(calls()).toEqual([
      ['request_approval_async', { action: 'Deploy', reason: 'why', approver_mobile: '+12025550101' }],
    ])
    service.tools.check_status = { status: 'denied', request_id: 'r-1', detail: 'Not today' }
    const { exit, out } = await run(['status', 'r-1', ...flag])
    expect([exit, out]).toMatchObject([0, { status: 'denied', action: 'Deploy', detail: 'Not today' }])
  })

  test.each([
    ['--to', '+12025550102'],
    ['--to', '@sre'],
  ])('submit asks nobody if %s %s is asked besides', async (...also) => {
    const { exit, err } = await run([...submit, ...also, ...flag])
    expect(exit).toBe(2)
    expect(err).toContain('A tool server can ask one person only, not')
    expect(calls()).toEqual([])
  })

  test('wait continues, and exits with the result', async () => {
    await run([...submit, ...flag])
    service.tools.check_status = { status: 'approved', request_id: 'r-1', attestation: {} }
    const { exit, out } = await run(['wait', 'r-1', ...flag])
    expect([exit, out]).toMatchObject([0, { status: 'approved', action: 'Deploy' }])
  })

  test('request waits for the decision, and can be continued', async () => {
    service.tools.check_status = { ...pending, status: 'approved' }
    const { exit, err } = await run(['request', 'Deploy', '--to', '+12025550101', ...flag])
    expect(exit).toBe(0)
    expect(err).toContain('r-1')
    expect((await run(['status', 'r-1', ...flag])).out).toMatchObject({ action: 'Deploy' })
  })

  test.each([
    [[...submit, '--org', '12']],
    [[...submit, '--timeout', '60']],
    [[...submit, '--number']],
    [['status', 'r-1', '--wait', '5']],
  ])('%j is rejected because no tool has the flag', async (words) => {
    const { exit, err } = await run([...words, ...flag])
    expect(exit).toBe(2)
    expect(err).toContain('cannot be used with a tool server')
    expect(calls()).toEqual([])
  })
})

test('the saved requests are private, limited in number, and contain no full phone number and no secret', async () => {
  for (let n = 0; n < 3; n++) {
    service.tools.request_approval_async = { ...pending, request_id: `r-${n % 2}` }
    await run([...submit, '--mcp'], { SVC_MCP_URL: service.mcpUrl, MCP_AUTH_TOKEN: 'canary-9f' })
  }
  const cache = join(folder.path, 'cache')
  const texts = readdirSync(cache).map((name) => {
    expect(statSync(join(cache, name)).mode & 0o777).toBe(0o600)
    return readFileSync(join(cache, name), 'utf8')
  })
  const [remembered] = texts.map((text) => JSON.parse(text) as { value: unknown[] })
  expect(remembered!.value).toHaveLength(2)
  expect(texts.join('')).not.toMatch(/\+12025550101|canary-9f/)
})

test.each([
  ['submit', 'Deploy', '--to', '+12025550101'],
  ['status', 'r-1'],
])('svc approve %s explains what a service without approvals and tools lacks', async (...words) => {
  const { exit, err } = await run(words, {})
  expect(exit).toBe(5)
  expect(JSON.parse(err)).toMatchObject({
    detail: `${service.origin} has no approvals (/svc/v1/approvals).`,
    hint: expect.stringContaining('SVC_MCP_URL'),
  })
})

test.each([['list'], ['withdraw', 'r-1']])(
  'svc approve %s explains that a service without approvals cannot do it, even with a tool server',
  async (...words) => {
    const { exit, err } = await run(words)
    expect(exit).toBe(5)
    expect(JSON.parse(err)).toMatchObject({
      detail: `${service.origin} has no approvals (/svc/v1/approvals).`,
      hint: 'svc serve starts a service that has them',
    })
    expect(calls()).toEqual([])
  },
)

test.each(['submit', 'request'])(
  'svc approve %s does not use the tool server of another service',
  async (word) => {
    const local = { base_url: 'http://127.0.0.1:1/admin/public/api', mcp_url: service.mcpUrl }
    const file = {
      version: 1,
      current: 'local',
      profiles: { local },
    }
    const address = service.baseUrl.replace('127.0.0.1', 'localhost')
    writeFileSync(join(folder.path, 'profiles.json'), JSON.stringify(file), { mode: 0o600 })
    const done = await run([word, 'Deploy', '--to', '+12025550101'], { SVC_BASE_URL: address })
    expect(done.exit).not.toBe(0)
    expect(JSON.parse(done.err).detail).toContain(
      `The tool server ${service.mcpUrl} of profile "local" was not used`,
    )
    expect(calls()).toEqual([])

    await run([...submit, '--mcp'], { SVC_BASE_URL: address })
    expect(calls()).toHaveLength(1)
  },
)

test.each([{ request_id: 'r-2', status: 'approved' }, undefined])(
  'svc approve status and withdraw reject a response about another request, such as %j',
  async (data) => {
    service.always((request, response) =>
      json(200, { status: 'success', message: 'ok', data })(request, response),
    )
    for (const word of ['status', 'withdraw']) {
      const { exit, out, err } = await run([word, 'r-1'], {})
      expect([exit, out, JSON.parse(err).code]).toEqual([1, undefined, 'unexpected_answer'])
    }
  },
)
