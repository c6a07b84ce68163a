import { describe, expect, test } from 'vitest'
import { svc } from '../svc.ts'

// Nothing listens there: a command that sends a request fails as unreachable.
const env = { SVC_BASE_URL: 'http://127.0.0.1:9/admin/public/api', SVC_API_KEY: 'k' }
const run = (...argv: string[]) => svc(argv, { env })

test('a write is sent with any --jq filter', async () => {
  expect((await run('key', 'create', '--can', 'all', '--name', 'ci', '--jq', '.other')).exit).toBe(9)
})

describe('a command with missing values', () => {
  test.each([
    [['geofence', 'delete', '--org', '1', '--no-color'], 'svc geofence delete 12 --org 1 --no-color'],
    [
      ['user', 'list', '--cacert', 'ca.pem', '--limit', '5'],
      'svc user list --limit 5 --cacert ca.pem --org acme',
    ],
    [
      ['org', 'creds', 'set-idp', '--org', '1', '--provider', 'okta'],
      'svc org creds set-idp --org 1 --provider okta --client-id 0oa1b2 --client-secret-file -',
    ],
    [['org', 'create'], "svc org create --name 'Acme Corp'"],
  ])('%j is answered with the complete command as a hint', async (argv, hint) => {
    const { exit, err } = await run(...argv)
    expect([exit, err]).toEqual([2, expect.stringMatching(/^svc: Missing /)])
    expect(err).toContain(`hint: ${hint}`)
  })
})
