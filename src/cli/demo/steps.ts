import { approvals } from './approvals.ts'
import { step, type Step } from './step.ts'

const person = (first: string, last: string, number: number): string =>
  `user create --org acme --first-name ${first} --last-name ${last} --email ${first.toLowerCase()}@acme.example` +
  ` --country-code +1 --mobile 202555010${number}`

/** The steps of `svc demo` on an empty service: administration, then approvals. */
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
  step('The first one becomes an administrator', 'user make-admin 2 --org acme --yes', {
    answers: { role: 'admin' },
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
  step(
    'A time slot',
    'timeslot create --org acme --name "Office hours" --days mon-fri --start 09:00 --end 17:30 --timezone Europe/Berlin',
    {
      answers: { name: 'Office hours' },
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
  step('The audit log: what was done, and by whom', 'audit list --org acme', {
    answers: [{ action: 'createOrganization' }, { action: 'makeAdmin' }],
  }),
  step('The audit log was not changed', 'audit verify --org acme', { answers: { valid: true } }),
]
