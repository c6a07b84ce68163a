import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, svc, temporaryFolder, type Service } from './processes.ts'
import { onTerminal } from './terminal.ts'

const key = 'svc_op_endtoend_0123456789012345678901234567890'
const folder = temporaryFolder()
const enter = '\r'
let service: Service
let env: Record<string, string>

beforeAll(async () => {
  service = await startService(`${folder.path}/data`, key)
  env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: `${folder.path}/config` }
  await svc(['org', 'create', '--name', 'Acme'], env)
})
afterAll(async () => {
  await service.stop()
  folder.remove()
})

describe('on a terminal', () => {
  test('missing values are asked for, and an answer that cannot be is asked again', async () => {
    const { exit, screen } = await onTerminal(['geofence', 'create', '--org', 'acme'], env, [
      [/Name/, `HQ${enter}`],
      [/Latitude/, `95${enter}`],
      [/must be 90 or less/, `\u0015`],
      [/Latitude/, `52.5${enter}`],
      [/Longitude/, `13.4${enter}`],
      [/Radius/, `100${enter}`],
      [/active/, `1${enter}`],
    ])
    expect(screen).toMatch(/Geo-fence created/)
    expect(exit).toBe(0)
  })
  test('a delete asks, and goes on only when told to', async () => {
    const no = await onTerminal(['geofence', 'delete', '1', '--org', 'acme'], env, [[/Go on\?/, enter]])
    expect(no.exit).toBe(1)
    expect(no.screen).toMatch(/Nothing was deleted/)
    const yes = await onTerminal(['geofence', 'delete', '1', '--org', 'acme'], env, [
      [/Go on\?/, `y${enter}`],
    ])
    expect(yes.exit).toBe(0)
  })
  test('Ctrl-C at a question exits with 130 and sends nothing', async () => {
    const { exit, screen } = await onTerminal(['org', 'create'], env, [[/Name/, '\u0003']])
    expect(exit).toBe(130)
    expect(screen).not.toMatch(/ {4}at /)
    const { stdout } = await svc(['org', 'list', '-o', 'id'], env)
    expect(stdout).toBe('1\n')
  })
  test('a secret is not echoed', async () => {
    const { screen } = await onTerminal(
      ['org', 'creds', 'set-idp', '--org', 'acme', '--provider', 'okta', '--client-id', 'x'],
      env,
      [[/Client secret/, `hush-hush${enter}`]],
    )
    expect(screen).toMatch(/client_secret_set +true/)
    expect(screen).not.toMatch(/hush/)
  })
  test('with --no-input nothing is asked', async () => {
    const { exit, screen } = await onTerminal(['org', 'create', '--no-input'], env, [])
    expect(exit).toBe(2)
    expect(screen).toMatch(/Missing --name/)
  })
})
