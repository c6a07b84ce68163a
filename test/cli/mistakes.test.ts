import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type RunningService } from '../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { svc } from './svc.ts'

const { path: dir, remove } = temporaryFolder()
let service: RunningService
let askKey: string
beforeAll(async () => {
  service = await startService({
    port: 0,
    host: '127.0.0.1',
    dataDir: join(dir, 'data'),
    dev: true,
    env: {},
    log: () => undefined,
  })
  for (const slug of ['acme', 'globex']) await run(`org create --name ${slug}`)
  await run(
    `user create --org acme --first-name Ada --last-name L --email ada@acme.example ${phone('2025550101')}`,
  )
  askKey = (await run('key create --name asks --can ask --org acme --jq .key')).out.trim()
})
afterAll(async () => {
  await service.stop()
  remove()
})

const run = (line: string, env: Record<string, string> = {}) =>
  svc(line, {
    cwd: dir,
    env: {
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: service.operatorKey!,
      SVC_CONFIG_DIR: join(dir, 'config'),
      ...env,
    },
  })
/** Flags of a phone number, for `user create` and `user update`. */
const phone = (mobile: string) => `--country-code +1 --mobile ${mobile}`

describe('an invalid value exits with 2 and is named by its flag, whether svc or the service finds it:', () => {
  const fence = 'geofence create --org acme --name HQ --radius 5 --is-active 1'
  test.each([
    // svc finds these.
    ['approve request Deploy --timeout 1y', '--timeout must be seconds, such as 300 or 5m, not "1y"'],
    ['geofence delete x --org acme --yes', '<geofence-id> must be a whole number, not "x"'],
    ['user list --org acme --state gone', '--state must be pending, active, rejected or removed, not "gone"'],
    [`${fence} --latitude 91 --longitude 1`, '--latitude must be 90 or less'],
    [`${fence} --latitude 91 --longitude 1 --dry-run`, '--latitude must be 90 or less'],
    // The service finds these.
    ['org auth-code create --org acme --label X --uses 0', '--uses must be 1 or more'],
    ['user list --org acme --limit 0', '--limit must be a whole number of 1 or more, not "0"'],
    ['approve submit Deploy --to 12 --org acme', /^--to /],
    ['approve request Deploy --to 12 --org acme', /^--to /],
    ['approve run --action Deploy --to 12 --org acme -- /bin/sh', /^--to /],
    ['notify app Deploy --from 12 --to 13 --org acme', /^--from /],
    ['org update acme --ip-allow 300.1.1.1', /^--ip-allow\[0\] must be a network/],
    [
      'timeslot create --org acme --name N --days mon --start 09:00 --end 10:00 --timezone Mars/X',
      /^--timezone must/,
    ],
    ['user details --org acme --user 1 --mobile +12025550101', /one of --user, --mobile, --email$/],
    ['user details --user 1', /^--org is required/],
    ['org create --name 1234', /^--slug /],
  ])('%s', async (line, message) => {
    const ended = await run(line, { SVC_ASK_KEY: askKey })
    expect(ended.message).toMatch(
      typeof message === 'string'
        ? new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`)
        : message,
    )
    expect(ended.exit).toBe(line.startsWith('approve run') ? 102 : 2)
    expect(ended.err).not.toMatch(/approver_mobile|user_id|org_id|from_mobile|ip_allow/)
  })

  test('an update without changes lists the flags', async () => {
    const { exit, err } = await run(
      'geofence create --org acme --name A --latitude 1 --longitude 1 --radius 5 --is-active 1',
    )
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    const ended = await run('geofence update 1 --org acme')
    expect(ended).toMatchObject({ exit: 2, message: 'Nothing to change' })
    expect(ended.err).toMatch(/hint: .*--name, --latitude, --longitude, --radius, --is-active/)
  })
})

describe('a hint uses the words of the command line:', () => {
  test('an update without changes lists only flags, and only those that can be changed', async () => {
    const { err } = await run('org update acme')
    expect(err).toMatch(/\nhint: Set one or more of --name, --slug, --ip-allow, --/)
    expect(err).not.toMatch(/policy(?!-)/)
    expect((await run('user update 1 --org acme')).err).toMatch(
      /\nhint: Set one or more of --email, --first-name, --last-name, --role\n/,
    )
    const mobile = await run(`user update 1 --org acme ${phone('2025550199')}`)
    expect(mobile.message).toBe("A user's mobile number cannot be changed")
  })
  test('the choice of a user is named once', async () => {
    const { err } = await run('user details --org acme')
    expect(err.match(/exactly one of/g)).toHaveLength(1)
  })
  test('a wrong cursor is explained with where svc prints one', async () => {
    const { err } = await run('user list --org acme --cursor bogus')
    expect(err).toMatch(/^svc: --cursor .*\nhint: Copy it from the "More:" line/)
  })
})

describe('a missing object exits with 5 and is named:', () => {
  test.each([
    ['org get nope', 'Organization "nope" not found'],
    ['org get 99', 'Organization 99 not found'],
    ['user get seven --org acme', 'User "seven" not found'],
    ['user list --org nope', 'Organization "nope" not found'],
    ['user list --org 99', 'Organization 99 not found'],
    ['user get 99 --org acme', 'User 99 not found'],
    ['geofence delete 99 --org acme --yes', 'Geofence 99 not found'],
    ['timeslot update 99 --name X', 'Time slot 99 not found'],
    ['key revoke 99 --yes', 'Key 99 not found'],
    ['user devices revoke 99 --org acme --yes', 'Device 99 not found'],
    ['profile use nope', 'Profile "nope" not found'],
    ['profile show nope', 'Profile "nope" not found'],
    ['org list --profile nope', 'Profile "nope" not found'],
    ['export --org nope', 'Organization "nope" not found'],
  ])('%s', async (line, message) => {
    expect(await run(line)).toMatchObject({ exit: 5, message })
  })
})

describe('a conflict exits with 3:', () => {
  test.each([['org create --name acme'], ['user pending accept 1 --org acme']])('%s', async (line) => {
    expect((await run(line)).exit).toBe(3)
  })
})

describe('problems with the address or the key', () => {
  test('a rejected key', async () => {
    const { exit, err } = await run('org list', { SVC_API_KEY: 'svc_op_00000000_x' })
    expect(exit).toBe(4)
    expect(err).toMatch(/^svc: \S+ does not accept this API key\nhint: Correct SVC_API_KEY, or unset it/)
    expect(err).not.toMatch(/header/)
  })
  test('a rejected saved key: the hint names the profile', async () => {
    const stale = { SVC_API_KEY: service.operatorKey! }
    const create = `profile create prod --base-url ${service.baseUrl}`
    expect((await run(create, { SVC_BASE_URL: '' })).exit).toBe(0)
    const none = await run('org list --profile prod', { SVC_API_KEY: '' })
    expect(none.err).toMatch(
      /no API key for this service\nhint: svc profile login prod signs in; SVC_API_KEY .*; svc serve /,
    )
    expect((await run('org list --profile prod', stale)).exit).toBe(0)
    const file = join(dir, 'config', 'profiles.json')
    const saved = JSON.parse(readFileSync(file, 'utf8')) as { profiles: Record<string, object> }
    const { origin } = new URL(service.baseUrl)
    Object.assign(saved.profiles['prod']!, { api_key: 'svc_op_00000000_x', api_key_origin: origin })
    writeFileSync(file, JSON.stringify(saved))
    const { exit, err } = await run('org list --profile prod', { SVC_API_KEY: '' })
    expect(exit).toBe(4)
    expect(err).toMatch(/does not accept this API key\nhint: svc profile login prod\n/)
  })
  test('a rejected key at login: the hint is not to log in', async () => {
    writeFileSync(join(dir, 'wrong.txt'), 'svc_op_00000000_x\n')
    const login = `profile login other --base-url ${service.baseUrl} --key-file wrong.txt`
    const { exit, err } = await run(login, { SVC_API_KEY: '', SVC_BASE_URL: '' })
    expect(exit).toBe(4)
    expect(err).toMatch(/\nhint: Nothing was saved\. Check that this service/)
    expect(err).not.toMatch(/hint: .*login/)
  })
  test('a missing object: the hint names --org if the command has it, and the list', async () => {
    expect((await run('user get 99 --org acme')).err).toMatch(
      /hint: Check the id and --org\. .*: svc user list --org acme\n/,
    )
    for (const line of ['key revoke 99 --yes', 'approve status apr_none', 'org get 99'])
      expect((await run(line)).err).toMatch(
        new RegExp(`not found\\nhint: Check the id\\. .*: svc ${line.split(' ', 1)[0]} list\\n`),
      )
  })
  test('an address without its path', async () => {
    const { origin, host } = new URL(service.baseUrl)
    const { exit, err } = await run('org list', { SVC_BASE_URL: origin })
    expect(exit).toBe(5)
    expect(err).toContain(
      `svc: ${host} has no route /organizations: the base URL must end in /admin/public/api\nhint: --base-url ${origin}/admin/public/api`,
    )
  })
})
