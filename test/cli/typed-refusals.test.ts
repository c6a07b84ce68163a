import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startService, type RunningService } from '../../src/service/lifecycle/serve.ts'
import { commandWords } from '../command-words.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { hintProblems, type Run } from './follow-hints.ts'
import { svc } from './svc.ts'

// Mistakes of a person at a real service: the hints of svc and those of the service are typed as they are printed.

const { path: cwd, remove } = temporaryFolder()
let service: RunningService
let reader = ''
const hush = 'hunter2'

const runAs =
  (key: () => string): Run =>
  (argv, stdin) =>
    svc(argv, {
      cwd,
      stdin,
      signal: AbortSignal.timeout(5000),
      env: {
        HOME: cwd,
        SVC_CONFIG_DIR: join(cwd, 'config'),
        SVC_BASE_URL: service.baseUrl,
        SVC_API_KEY: key(),
      },
    })
const operator = runAs(() => service.operatorKey!)

beforeAll(async () => {
  service = await startService({
    port: 0,
    host: '127.0.0.1',
    dataDir: join(cwd, 'data'),
    dev: true,
    env: {},
    log: () => undefined,
  })
  writeFileSync(join(cwd, 'users.csv'), 'first_name,last_name\n')
  const person = '--last-name L --country-code +1'
  for (const line of [
    'org create --name acme',
    'org create --name globex',
    `user create --org acme --first-name Ada ${person} --email ada@acme.example --mobile 2025550101`,
    `user create --org acme --first-name Bob ${person} --email bob@acme.example --mobile 2025550102`,
    'geofence create --org acme --name HQ --latitude 1 --longitude 1 --radius 50 --is-active 1',
    'profile create prod --base-url https://svc.example.com/admin/public/api',
  ]) {
    const { exit, err } = await operator(commandWords(line), '')
    if (exit !== 0) throw new Error(`${line}: ${err}`)
  }
  const made = await operator(commandWords('key create --name reader --org acme --can read -o json'), '')
  reader = JSON.parse(made.out).key
})
afterAll(async () => {
  await service.stop()
  remove()
})

/** The words after `!` are the mistake, which a hint may leave out. */
const read = (row: string) => {
  const [line = '', wrong = ''] = row.split(' ! ')
  return { argv: commandWords(line), wrong: commandWords(wrong), secret: hush, far: true }
}

describe('each hint can be typed, leaves nothing out and ends after at most four steps:', () => {
  test.each([
    // Unknown commands and words in the wrong place.
    'usr get 1 --org acme ! usr',
    'users list --org acme ! users',
    'user lst --org acme ! lst',
    'list users --org acme ! users',
    'get user 1 --org acme !',
    'create org --name "Acme Two" !',
    'approve enroll 1 --org globex ! approve',
    'user rm 1 --org acme --yes ! rm 1 --org acme --yes',
    'login prod --base-url http://127.0.0.1:9 ! login',
    'auth login ! auth',
    'auth status ! auth status',
    'config list ! config',
    'logout ! logout',
    'user frob ! frob',
    'api GET organizations ! GET organizations',
    'api organizations ! organizations',
    'completion fsh ! fsh',
    'help exit-code ! exit-code',
    'help nothing-at-all ! nothing-at-all',
    // Flags that are misspelt, repeated, negated or without a value.
    'user get 1 --org-id acme ! --org-id',
    'org list --limt 3 ! --limt',
    'org update acme --not-requester=false ! --not-requester=false',
    'org update acme --not-requester true ! true',
    'org list --all=yes ! --all=yes',
    'user list --org acme --org globex ! --org acme globex',
    'approve request Deploy --to +12025550101 --to +12025550102 ! --to +12025550102',
    'user delete 1 --yes --org ! --org',
    'webhook create https://h.example/x --org 1 --type polcy ! polcy',
    'user list --org acme -o xml ! xml',
    'approve verify receipt.json -o ndjson ! -o ndjson',
    'export --org acme -o csv ! -o csv',
    'user export --org acme -o json ! -o json',
    'geofence create --org acme --name A --latitud 1 --longitude 1 --radius 5 --is-active 1 ! --latitud',
    // Missing, superfluous and unquoted arguments.
    'user get ! get',
    'user get --org acme',
    'user delete --org acme --yes',
    'geofence delete --org globex --yes',
    'user import --org globex',
    'user import --org globex --on-conflict skip --dry-run',
    'geofence set --user 1',
    'timeslot set --user 1',
    'org onboard --name Two',
    'mobile confirm --mobile +12025550101',
    'user delete 1 2 3 --yes --org globex',
    'approve withdraw apr_a apr_b',
    'approve request deploy to production ! deploy to production',
    'approve request deploy to production --timeout 60 --to +12025550199',
    'approve request --to +12025550101 --timeout 60',
    'approve verify --org globex --max-age 15m',
    'approve run --to +12025550101 --timeout 60',
    'user list acme !',
    'user list ada@acme.example',
    'org create Acme',
    'profile use ! use',
    'profile create --base-url https://svc.example.com/admin/public/api',
    'profile remove --yes',
    'profile set --profile prod',
    'diff --prune',
    'mcp install foo ! foo',
    // Secrets on the command line.
    `org creds set-idp --org acme --provider okta --client-id x --client-secret ${hush} ! --client-secret ${hush}`,
    `org creds set-idp --org acme --client-secret=${hush} ! --client-secret=${hush}`,
    `org creds set-idp --org acme --provider okta --client-id x --client-secret-file ${hush} ! --client-secret-file ${hush}`,
    `org creds set-idp --org acme --provider okta --client-id x --client-secret-fiel ${hush} ! --client-secret-fiel ${hush}`,
    `org creds set-idp --porvider okta -f client_secret=${hush} ! --porvider client_secret=${hush}`,
    `org creds set-idp --org acme -f client_secret=${hush}`,
    `mobile confirm --mobile +12025550101 --otp ${hush} ! --otp ${hush}`,
    `mobile confirm --mobile +12025550101 --otp-file ${hush} ! --otp-file ${hush}`,
    `mobile refresh-token --refresh-token ${hush} ! --refresh-token ${hush}`,
    `org list --key-file ${hush} ! --key-file ${hush}`,
    `org list --api-key ${hush} ! --api-key ${hush}`,
    `user delete 1 --org acme -f password=${hush}`,
    // Refusals.
    'user delete 1 --org acme',
    'org delete globex',
    'approve request Deploy --to 12 --org acme',
    'approve request Deploy --to +12025550101 --org acme --factors biometric,bogus',
    'approve request Deploy --to +12025550199 --org acme',
    'approve status apr_none',
    'approve withdraw apr_none',
    'approve inbox',
    'approve inbox --authenticator none.json',
    'user get ada@acme.example --org acme ! get',
    'user get Ada --org acme',
    'user get 99 --org acme',
    'user get 1 --org globex',
    'user pending accept 1 --org acme',
    'user devices revoke 99 --org acme --yes',
    'user make-admin 99 --org acme --yes',
    'geofence delete HQ --org acme --yes',
    'geofence update 1 --org acme',
    'geofence delete 99 --org acme --yes',
    'timeslot update 99 --name X',
    'key revoke 99 --yes',
    'key rotate 99',
    'key create --name a --can bogus',
    'org get nope',
    'org get "a b"',
    'org create --name acme',
    'org update acme',
    'org update acme --ip-allow 300.1.1.1',
    'user list --org nope',
    'user list --org acme --cursor bogus',
    'user import users.csv --org acme',
    'iot machines delete nope --org acme --yes',
    'audit list --since yesterdy --org acme',
    'webhook create ftp://x --org acme --type approval',
    'profile use nope ! use nope',
    'profile show nope ! show nope',
    'profile login staging --with-key',
    'org list --profile nope ! org --profile nope',
    'org list --base-url nonsense',
    'serve service install --bogus',
  ])('svc %s', async (row) => {
    expect(await hintProblems(read(row), operator)).toEqual([])
  })

  test.each([
    'org create --name three',
    'user create --org acme --first-name A --last-name L --email a@acme.example --country-code +1 --mobile 2025550109',
    'user delete 1 --org acme --yes',
    'geofence delete 1 --org acme --yes',
    'key create --name b --can people',
    'key rotate 1',
    'org get globex',
    'user list --org globex',
    'approve request Deploy --to +12025550101',
    'org limits set --org acme --users 5',
  ])('with a key that can only read: svc %s', async (row) => {
    expect(
      await hintProblems(
        read(row),
        runAs(() => reader),
      ),
    ).toEqual([])
  })

  test('with a rejected key', async () => {
    const rejected = runAs(() => 'svc_op_00000000_x')
    expect(await hintProblems(read('org list'), rejected)).toEqual([])
  })
})
