import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { startFakeHosted } from '../../fake-hosted.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const { path: dir, remove } = temporaryFolder()
let service: RunningService
beforeAll(async () => {
  const data = {
    host: '127.0.0.1',
    port: 0,
    dataDir: join(dir, 'data'),
    env: {},
    log: () => undefined,
    version: '0.1.0 (1234abcd)',
  }
  service = await startService(data)
})
afterAll(async () => {
  await service.stop()
  remove()
})

const run = async (line: string, env: Record<string, string> = {}) => {
  const own = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: service.operatorKey!, SVC_CONFIG_DIR: dir }
  const { exit, out, err } = await svc(line, { env: { ...own, ...env } })
  return { exit, data: JSON.parse(out || 'null') as Record<string, unknown>, err }
}

test('shows the operator key, and the profile and address in use', async () => {
  expect(await run('whoami -o json')).toEqual({
    exit: 0,
    err: '',
    data: {
      profile: 'default',
      base_url: service.baseUrl,
      service_version: '0.1.0 (1234abcd)',
      key_id: '1',
      key_name: 'operator',
      kind: 'operator',
      org_id: null,
      org: null,
      scopes: ['ask', 'read', 'people', 'rules', 'devices', 'keys', 'notify', 'app'],
      owner_user_id: null,
      expires_at: null,
      ask_key_id: null,
      ask_key_name: null,
      ask_key_scopes: null,
      ask_key_expires_at: null,
    },
  })
})

test('shows the ask key beside the API key, or alone', async () => {
  const ask = await service.makeAskKey()
  const { key } = (await run('key create --name reader --can read --expires 2099-01-01T00:00:00Z -o json'))
    .data
  const login = (flags: string, stdin: unknown) =>
    svc(`profile login both --base-url ${service.baseUrl} --with-key${flags}`, {
      env: { SVC_CONFIG_DIR: join(dir, 'both') },
      stdin: `${stdin}\n`,
    })
  expect([(await login('', key)).exit, (await login(' --ask', ask)).exit]).toEqual([0, 0])
  const profile = { SVC_BASE_URL: '', SVC_API_KEY: '', SVC_CONFIG_DIR: join(dir, 'both') }
  expect((await run('whoami -o json', profile)).data).toMatchObject({
    key_name: 'reader',
    kind: 'service',
    scopes: ['read'],
    expires_at: '2099-01-01T00:00:00.000Z',
    ask_key_name: 'local',
    ask_key_scopes: ['ask'],
    ask_key_expires_at: null,
  })
  const alone = await run('whoami -o json', { SVC_API_KEY: '', SVC_ASK_KEY: ask })
  expect(alone.data).toMatchObject({ key_name: 'local', scopes: ['ask'], ask_key_name: null })
})

test('shows the organization of its key', async () => {
  await run('org create --name Acme -o json')
  const { data: made } = await run('key create --name ci --org acme --can all -o json')
  const { data } = await run('whoami -o json', { SVC_API_KEY: String(made['key']) })
  expect(data).toMatchObject({ key_name: 'ci', kind: 'organization', org_id: 1, org: 'acme' })
})

test.each([
  ['an unreachable service', { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api' }, 9, /127\.0\.0\.1:9/],
  [
    'a rejected key',
    { SVC_API_KEY: 'svc_op_00000000_x' },
    4,
    /does not accept this API key\nhint: Correct SVC_API_KEY, or unset it/,
  ],
  ['no key', { SVC_API_KEY: '' }, 4, /no API key/],
])('shows the local settings with %s', async (_, env, code, says) => {
  const { exit, data, err } = await run('whoami -o json', env)
  expect(exit).toBe(code)
  expect(err).toMatch(says)
  expect(data).toMatchObject({ profile: 'default', key_name: null })
})

test('does not require another service of the contract to know the key', async () => {
  const other = await startFakeHosted()
  const { exit, data, err } = await run('whoami -o json', { SVC_BASE_URL: other.baseUrl })
  await other.close()
  expect({ exit, err }).toEqual({ exit: 0, err: 'This service does not report which key it is\n' })
  expect(data).toMatchObject({ base_url: other.baseUrl, kind: null })
})

test('says once that a service does not answer, also with an ask key', async () => {
  const away = { SVC_BASE_URL: 'http://127.0.0.1:1/admin/public/api', SVC_ASK_KEY: 'svc_org_1' }
  const { exit, err } = await run('whoami -o json', away)
  expect(exit).toBe(9)
  expect(err.match(/Nothing answers/g)).toHaveLength(1)
})
