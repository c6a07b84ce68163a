import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const { path: dir, remove } = temporaryFolder()
let people = 0
/** The approver of this test. A new one for each test avoids the rate limits. */
let mobile: string
let service: RunningService
let askKey: string

const run = (command: string | string[], env: Record<string, string> = {}, stdin = '') =>
  svc(command, { env: { SVC_CONFIG_DIR: dir, SVC_PROFILE: 'two', ...env }, stdin, cwd: dir })
const operator = () => ({ SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.operatorKey!, SVC_PROFILE: '' })
const made = async (line: string, env: Record<string, string> = {}): Promise<string> => {
  const { exit, out, err } = await run(line, env)
  if (exit !== 0) throw new Error(err)
  return out.trim()
}
const keyOf = (name: string, can: string) =>
  made(`key create --name ${name} --can ${can} --org acme --jq .key`, operator())
const login = (key: string, flags = '') =>
  run(`profile login two --base-url ${service.baseUrl} --with-key${flags}`, { SVC_PROFILE: '' }, `${key}\n`)
const submit = (env: Record<string, string> = {}) =>
  run(`approve submit Deploy --to ${mobile} --jq .verified_as`, env)

beforeAll(async () => {
  const data = {
    host: '127.0.0.1',
    port: 0,
    dataDir: join(dir, 'data'),
    env: {},
    log: () => undefined,
    dev: true,
  }
  service = await startService(data)
  await made('org create --name Acme', operator())
  askKey = await keyOf('gateway', 'ask')
})
afterAll(async () => {
  await service.stop()
  remove()
})
beforeEach(async () => {
  rmSync(join(dir, 'profiles.json'), { force: true })
  const n = (people += 1)
  mobile = `+1202555${1000 + n}`
  const name = `--first-name Ada --last-name L --email ada${n}@acme.example`
  await made(`user create --org acme ${name} --country-code +1 --mobile ${mobile.slice(2)}`, operator())
  await made(`user enroll ${n} --org acme --software --file ${n}.json`, operator())
})
describe('a profile with an API key and an ask key', () => {
  test('requests approvals with the ask key, and uses the API key for everything else', async () => {
    await login(await keyOf('admin-1', 'admin'))
    expect(await login(askKey, ' --ask')).toMatchObject({ exit: 0 })
    expect((await submit()).out.trim()).toBe('key "gateway"')
    expect((await run('geofence list --org acme')).exit).toBe(0)
    // The administrative key has no scope "ask", and the ask key cannot list.
    const pending = JSON.parse((await run('approve list --status pending -o json')).out) as {
      request_id: string
    }[]
    const id = pending[0]!.request_id
    expect((await run(`approve status ${id}`)).exit).toBe(0)
    expect((await run(`approve withdraw ${id}`)).exit).toBe(0)
  })

  test('reads and withdraws requests of another key with the API key', async () => {
    await login(service.operatorKey!)
    await login(askKey, ' --ask')
    const other = await keyOf('other', 'ask')
    const id = await made(`approve submit Other --to ${mobile} --jq .request_id`, { SVC_API_KEY: other })
    expect((await run(`approve status ${id}`)).exit).toBe(0)
    expect((await run(`approve withdraw ${id}`)).exit).toBe(0)
    const unknown = await run('approve status apr_unknown')
    expect([unknown.exit, unknown.err]).toEqual([5, expect.stringContaining('not found')])
  })

  test('never falls back to the API key for requests', async () => {
    await login(service.operatorKey!)
    await login(await keyOf('gateway-2', 'ask'), ' --ask')
    const { id } = JSON.parse(await made('key list --org acme --jq .[-1]', operator())) as { id: string }
    await made(`key revoke ${id} --yes`, operator())
    const refused = await submit()
    expect(refused.exit).toBe(4)
    expect(refused.err).toContain('"hint":"svc profile login two --ask"')
  })

  test('uses a key given for this run for everything', async () => {
    await login(service.operatorKey!)
    await login(askKey, ' --ask')
    const named = await keyOf('named', 'ask')
    expect((await submit({ SVC_API_KEY: named })).out.trim()).toBe('key "named"')
    expect((await submit({ SVC_ASK_KEY: named })).out.trim()).toBe('key "named"')
  })
})

test('explains how to save an ask key if the key cannot request approvals', async () => {
  await login(await keyOf('admin-2', 'admin'))
  const { exit, err } = await submit()
  expect(exit).toBe(4)
  expect(JSON.parse(err.trim().split('\n').at(-1)!)).toMatchObject({
    code: 'scope_missing',
    message: 'This key cannot do that: it requires the scope "ask"',
    hint: 'Create a key that can ask: svc key create --can ask. Save it: svc profile login two --ask',
  })
})

describe('svc profile login --ask', () => {
  test('rejects a key without the scope ask, and saves nothing', async () => {
    await login(service.operatorKey!)
    const { exit, err } = await login(await keyOf('reader', 'read'), ' --ask')
    expect(exit).toBe(3)
    expect(err).toContain('This key cannot request approvals: its scopes are read')
    expect(await made('profile show two --jq .ask_key')).toBe('null')
  })

  test('warns about a key with more scopes', async () => {
    const { exit, err } = await login(await keyOf('both', 'ask,read'), ' --ask')
    expect([exit, err]).toEqual([
      0,
      expect.stringContaining('This key can do more than request approvals: read.'),
    ])
  })

  test('saves an ask key as the only key, which then does what it can', async () => {
    await login(askKey, ' --ask')
    expect((await submit()).out.trim()).toBe('key "gateway"')
    const listed = await run('user list --org acme')
    expect([listed.exit, listed.err]).toEqual([4, expect.stringContaining('requires the scope "read"')])
  })

  test('is not combined with --bearer', async () => {
    expect(await login(askKey, ' --ask --bearer')).toMatchObject({ exit: 2 })
  })
})

test('uses a key that a command prints, and says so in profile show', async () => {
  await login(service.operatorKey!)
  await run(['profile', 'set', 'two', `ask_credential_command=["printf","${askKey}"]`])
  expect((await submit()).out.trim()).toBe('key "gateway"')
  const shown = JSON.parse((await run('profile show --explain -o json')).out) as {
    setting: string
    value: string
  }[]
  expect(shown.find(({ setting }) => setting === 'ask_key')?.value).toBe('that printf prints')
})

test('svc serve saves an operator key and a key that can only request approvals', async () => {
  const { saveLocalProfile } = await import('../../../src/cli/profile/local-profile.ts')
  await saveLocalProfile(
    { io: { env: { SVC_CONFIG_DIR: dir }, cwd: dir } },
    { ...service, dataDir: service.dataDir!, key: service.operatorKey },
  )
  const local = { SVC_PROFILE: 'local' }
  expect(JSON.parse(await made('whoami -o json', local))).toMatchObject({
    key_name: 'operator',
    kind: 'operator',
    ask_key_scopes: ['ask'],
  })
  expect((await submit(local)).out.trim()).toMatch(/^key "local(?:-\d)?"$/)
})
