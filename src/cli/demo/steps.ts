import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { approvals } from './approvals.ts'
import { step, type Step } from './step.ts'

/** The log of the service, with the messages that a phone would get. */
export const developerLog = (folder: string): string => join(folder, 'service.log')

/** Copies the code from the text message to `code.txt`, as a person would. */
const readCode = async (folder: string): Promise<void> => {
  const log = developerLog(folder)
  for (let attempt = 0; attempt < 250; attempt++) {
    const code = existsSync(log) && /Your code is (\d{6})/.exec(readFileSync(log, 'utf8'))?.[1]
    if (code) return writeFileSync(join(folder, 'code.txt'), code)
    await sleep(20)
  }
}

const ida = '--mobile +12025550120'
const stock = '--stock-name AAPL --total-price 12,500.00'

/** Phone apps, machines and messages. With --dev, the service logs the messages that it would send. */
const devices: Step[] = [
  step(
    'An app registers its user',
    'mobile register --country-code +1 --mobile 2025550120 --first-name Ida --last-name Rhodes',
    { answers: { expires_at: /./ } },
  ),
  step('Send a code to the phone', `mobile send-otp ${ida}`, { answers: { sends_left: 4 } }),
  step('and verify the number, once', `mobile confirm ${ida} --otp-file code.txt`, {
    before: readCode,
    answers: { refresh_token: /./ },
  }),
  step('', `mobile confirm ${ida} --otp-file code.txt`, { exit: 'forbidden' }),
  step('An IMEI with a wrong digit', 'mobile check-imei --imei 490154203237519', {
    exit: 'usage',
    answers: { message: /imei/ },
  }),
  step('The price of a stock, from the sample of one past day', 'iot price aapl', {
    answers: { symbol: 'AAPL', source: 'sample' },
  }),
  step(
    'A machine that is bound to it',
    `iot register press-01 --org acme ${stock} --current-stock-price 250.42 --machine-name "Press 1" --mobile +12025550120`,
  ),
  step(
    'Its login, first with an invalid price',
    `iot login press-01 --org acme ${stock} --current-stock-price 250.420`,
    {
      exit: 'usage',
      answers: { message: /decimals/ },
    },
  ),
  step('', `iot login press-01 --org acme ${stock} --current-stock-price 250.42`),
  step('An alert', 'notify global --to +12025550120 --type alert --message "The door on the roof is open."', {
    answers: { message_id: /^msg_/ },
  }),
  step('The messages that were sent', 'notify outbox list', {
    answers: [{ kind: 'otp' }, { kind: 'alert' }],
  }),
]

const person = (first: string, last: string, number: number): string =>
  `user create --org acme --first-name ${first} --last-name ${last} --email ${first.toLowerCase()}@acme.example` +
  ` --country-code +1 --mobile 202555010${number}`

const home = '[{"name":"Home","latitude":52.49,"longitude":13.42,"radius":120,"enabled":true}]'
const nights =
  '[{"name":"Nights","days":["fri","sat"],"start":"22:00","end":"06:00","timezone":"Europe/Berlin"}]'

/** The steps of `svc demo` on an empty service: administration, approvals, then phones, machines and messages. */
export const steps: Step[] = [
  step('An organization', 'org create --name "Acme Corp" --slug acme', { answers: { slug: 'acme' } }),
  step(
    'Another one, with its first administrator, auth code and key in one step',
    'org onboard --name Globex --first-name Hank --last-name Scorpio --email hank@globex.example --country-code +1 --mobile 2025550109',
    { answers: { organization: { slug: 'globex' }, api_key: { key: /^svc_org_/ } } },
  ),
  step('Both of them', 'org list', { answers: [{ slug: 'acme' }, { slug: 'globex' }] }),
  step('Its policy', 'org update acme --require-number --factors biometric,location', {
    answers: { policy: { require_number: true, factors: ['biometric', 'location'] } },
  }),
  step('People', person('Ada', 'Lovelace', 1), { answers: { first_name: 'Ada' } }),
  step('', person('Grace', 'Hopper', 2)),
  step('', person('Mallory', 'Moriarty', 3)),
  step('', person('Alan', 'Turing', 4)),
  step('The first one becomes an administrator', 'user make-admin 2 --org acme --yes', {
    answers: { role: 'admin' },
  }),
  step('Two are put on hold', 'user pending hold 3 --org acme --yes', { answers: { state: 'pending' } }),
  step('', 'user pending hold 4 --org acme --yes'),
  step('One of them is rejected', 'user pending reject 4 --org acme --yes', {
    answers: { state: 'rejected' },
  }),
  step('One leaves', 'user remove 5 --org acme --yes', { answers: { state: 'removed' } }),
  step('The pending users', 'user pending list --org acme', { answers: [{ first_name: 'Grace' }] }),
  step('A rejected user cannot be accepted', 'user pending accept 4 --org acme', {
    exit: 'refused',
    answers: { message: /rejected/ },
  }),
  step(
    'A geofence',
    'geofence create --org acme --name Headquarters --latitude 52.52 --longitude 13.405 --radius 150 --is-active 1',
    {
      answers: { name: 'Headquarters' },
    },
  ),
  step(
    'An impossible location',
    'geofence create --org acme --name Moon --latitude 95 --longitude 0 --radius 1 --is-active 1',
    {
      exit: 'usage',
      answers: { message: /latitude/ },
    },
  ),
  step('A geofence of one user', `geofence set --user 2 --geofences '${home}'`, {
    answers: [{ name: 'Home' }],
  }),
  step(
    'A time slot',
    'timeslot create --org acme --name "Office hours" --days mon-fri --start 09:00 --end 17:30 --timezone Europe/Berlin',
    {
      answers: { name: 'Office hours' },
    },
  ),
  step('A time slot of one user, across midnight', `timeslot set --user 2 --timeslots '${nights}'`, {
    answers: [{ start: '22:00' }],
  }),
  step(
    'A code with which people ask to join',
    'org auth-code create --org acme --label "Berlin office" --uses 50',
    {
      answers: { label: 'Berlin office' },
    },
  ),
  step('A key for CI, of this organization only', 'key create --name ci --org acme --can read', {
    keep: { acme: 'key' },
  }),
  step('It works in its own organization', 'user list --org acme --state active', {
    keyFrom: 'acme',
    answers: [{ first_name: 'Ada' }],
  }),
  step('and cannot see another one', 'org get globex', { keyFrom: 'acme', exit: 'notFound' }),
  step('Every delete asks for confirmation', 'geofence delete 1 --org acme', {
    exit: 'usage',
    answers: { hint: /--yes/ },
  }),
  step('A dry run shows the request', 'geofence delete 1 --org acme --dry-run'),
  step('and deletes nothing', 'geofence list --org acme', { answers: [{ name: 'Headquarters' }] }),
  ...approvals,
  step('A verification by an app of your own', 'auth token --mobile +12025550109', {
    answers: { auth_token: /./ },
  }),
  ...devices,
  step('The audit log: what was done, and by whom', 'audit list --org acme', {
    answers: [{ action: 'createOrganization' }, { action: 'setUserTimeslots' }],
  }),
  step('The audit log was not changed', 'audit verify --org acme', { answers: { valid: true } }),
]
