import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exitCode, type Exit } from '../../core/exit-codes.ts'

export type Step = {
  /** What a person learns from it. */
  title: string
  argv: string[]
  /** Remembers the secret that this step shows, under this name. */
  keep?: { as: string; pattern: RegExp }
  /** Runs with a remembered secret as its API key. */
  keyFrom?: string
  /** How svc ends, or what `approve run` exits with. */
  exit?: Exit | number
  /** What the answer must hold. */
  shows?: RegExp[]
  /** Done in the folder of the demo before. */
  before?(folder: string): void
  /** Typed in another terminal once the answer matches `when`; `$1` is what matched. */
  meanwhile?: { when: RegExp; line: string }
}

export const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3]!)

const step = (title: string, line: string, rest: Omit<Step, 'title' | 'argv'> = {}): Step => ({
  title,
  argv: words(line),
  ...rest,
})

const person = (first: string, last: string, number: number): string =>
  `user create --org acme --first-name ${first} --last-name ${last} --email ${first.toLowerCase()}@acme.example` +
  ` --country-code +1 --mobile 202555010${number}`

const home = '[{"name":"Home","latitude":52.49,"longitude":13.42,"radius":120,"enabled":true}]'
const nights =
  '[{"name":"Nights","days":["fri","sat"],"start":"22:00","end":"06:00","timezone":"Europe/Berlin"}]'

const hank = '--to +12025550109'
const inbox = (decision: string) => ({
  when: /Asked .*\((apr_[\w-]+)\)/,
  line: `approve inbox --${decision} $1`,
})

/** Somebody changes the receipt: another action, in the copy that people read. */
const forge = (folder: string): void => {
  const receipt = readFileSync(join(folder, 'receipt.json'), 'utf8')
  writeFileSync(join(folder, 'forged.json'), receipt.replace('Deploy 4.2', 'Deploy 9.9'))
}

// Stands for ./deploy.sh: it succeeds only where the receipt was handed to it.
const deploy = `${process.execPath} -e 'process.exit(require("fs").existsSync(process.env.SVC_APPROVAL_RECEIPT) ? 0 : 1)'`

const approvals: Step[] = [
  step(
    'An approver, with a key made of software in place of a phone',
    'user enroll 1 --org globex --software',
    {
      shows: [/software/],
    },
  ),
  step(
    'Ask, and the approver types the number that the requester sees',
    `approve request "Deploy 4.2 to production" ${hank} --number --receipt receipt.json`,
    {
      meanwhile: {
        when: /Asked .*\((apr_[\w-]+)\)[^]*phone: (\d\d)/,
        line: 'approve inbox --approve $1 --number $2',
      },
      shows: [/approved/],
    },
  ),
  step(
    'Anyone can check the receipt',
    `approve verify receipt.json --action "Deploy 4.2 to production" --max-age 5m --allow-dev`,
    { shows: [/human signature/, /Valid: /] },
  ),
  step('Somebody changes it', 'approve verify forged.json --allow-dev', {
    before: forge,
    exit: 'failed',
    shows: [/Not valid: copy/],
  }),
  step('The approver says no', `approve request "Delete the backups" ${hank}`, {
    meanwhile: inbox('deny'),
    exit: 'denied',
    shows: [/denied/],
  }),
  step('Nobody answers, and silence is no consent', `approve request "Wire 9,000" ${hank} --timeout 1`, {
    exit: 'expired',
    shows: [/expired/],
  }),
  step('A command that runs only after a yes', `approve run --action "Deploy 4.3" ${hank} -- ${deploy}`, {
    meanwhile: inbox('approve'),
    shows: [/Approved/],
  }),
  step('and not after a no', `approve run --action "Drop the database" ${hank} -- ${deploy}`, {
    meanwhile: inbox('deny'),
    exit: 106,
    shows: [/nothing was run/],
  }),
]

/** The story that `svc demo` tells on an empty service: administration, then approvals. */
export const steps: Step[] = [
  step('An organization', 'org create --name "Acme Corp" --slug acme', { shows: [/acme/] }),
  step(
    'Another one, with its first admin, auth code and key in one go',
    'org onboard --name Globex --first-name Hank --last-name Scorpio --email hank@globex.example --country-code +1 --mobile 2025550109',
    { shows: [/globex/, /svc_org_/] },
  ),
  step('Both of them', 'org list', { shows: [/acme/, /globex/] }),
  step('What it enforces', 'org update acme --require-number --factors biometric,location', {
    shows: [/require_number/],
  }),
  step('People', person('Ada', 'Lovelace', 1), { shows: [/Ada/] }),
  step('', person('Grace', 'Hopper', 2)),
  step('', person('Mallory', 'Moriarty', 3)),
  step('', person('Alan', 'Turing', 4)),
  step('The first one becomes an admin', 'user make-admin 2 --org acme', { shows: [/admin/] }),
  step('Two are put on hold', 'user pending hold 3 --org acme', { shows: [/pending/] }),
  step('', 'user pending hold 4 --org acme'),
  step('One of them is rejected', 'user pending reject 4 --org acme', { shows: [/rejected/] }),
  step('One leaves', 'user remove 5 --org acme', { shows: [/removed/] }),
  step('Who waits', 'user pending list --org acme', { shows: [/Grace/] }),
  step('A state is left once', 'user pending accept 4 --org acme', { exit: 'refused', shows: [/rejected/] }),
  step(
    'A place',
    'geofence create --org acme --name Headquarters --latitude 52.52 --longitude 13.405 --radius 150 --is-active 1',
    {
      shows: [/Headquarters/],
    },
  ),
  step(
    'A place that cannot be',
    'geofence create --org acme --name Moon --latitude 95 --longitude 0 --radius 1 --is-active 1',
    {
      exit: 'usage',
      shows: [/latitude/],
    },
  ),
  step("One person's place", `geofence set --user 2 --geofences '${home}'`, { shows: [/Home/] }),
  step(
    'A time',
    'timeslot add --org acme --name "Office hours" --days mon,tue,wed,thu,fri --start 09:00 --end 17:30 --timezone Europe/Berlin',
    {
      shows: [/Office hours/],
    },
  ),
  step("One person's time, across midnight", `timeslot set --user 2 --timeslots '${nights}'`, {
    shows: [/22:00/],
  }),
  step(
    'A code with which people ask to join',
    'org auth-code create --org acme --label "Berlin office" --uses 50',
    {
      shows: [/Berlin office/],
    },
  ),
  step('A key for CI, of this organization only', 'key create --name ci --org acme', {
    keep: { as: 'acme', pattern: /svc_org_[\w-]{20,}/ },
  }),
  step('It works at home', 'user list --org acme --state active', { keyFrom: 'acme', shows: [/Ada/] }),
  step('and another tenant does not exist for it', 'org get globex', { keyFrom: 'acme', exit: 'notFound' }),
  step('Nothing is deleted without being told twice', 'geofence delete 1 --org acme', {
    exit: 'usage',
    shows: [/--yes/],
  }),
  step('What would be sent', 'geofence delete 1 --org acme --dry-run', { shows: [/DELETE/, /curl/] }),
  ...approvals,
  step('What was done, and by whom', 'audit list --org acme', {
    shows: [/createOrganization/, /setUserTimeslots/],
  }),
  step('No link of the chain is broken', 'audit verify --org acme', { shows: [/true/] }),
]

/** The exit code that a step must end with. */
export const expectedExit = ({ exit = 'done' }: Step): number =>
  typeof exit === 'number' ? exit : exitCode(exit)
