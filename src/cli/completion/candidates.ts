import { parseArgs } from 'node:util'
import type { Operation } from '../../contract/operation.ts'
import { safeLine } from '../../core/safe-text.ts'
import { createApprovalGuard } from '../approve/approval-guard.ts'
import { type Context, createContext } from '../context/context.ts'
import type { Io } from '../terminal/io.ts'
import { isPaged } from '../operation/list-rows.ts'
import { resolveOrg } from '../context/organization.ts'
import { openDiskCache } from '../context/disk-cache.ts'
import type { ProfileFile } from '../context/profile-store.ts'
import { cellText, rowsOf } from '../terminal/payload.ts'

/** The shell waits for the answer while the prompt is blocked. */
const limitMs = 2_000
/** Names of customers are cached only while somebody types. */
const lastsMs = 60_000
const mostRows = 1_000

type Row = Record<string, unknown>
/** The command that lists them, and the fields that are offered and described. */
type List = { cli: string; value: string; about: readonly string[]; lastsMs?: number }

const lists = {
  org: { cli: 'org list', value: 'slug', about: ['name'] },
  user: { cli: 'user list', value: 'id', about: ['first_name', 'last_name'] },
  geofence: { cli: 'geofence list', value: 'id', about: ['name'] },
  timeslot: { cli: 'timeslot list', value: 'id', about: ['name'] },
  group: { cli: 'group list', value: 'name', about: ['members'] },
  rule: { cli: 'rule list', value: 'name', about: ['who'] },
  key: { cli: 'key list', value: 'id', about: ['name'] },
  'auth-code': { cli: 'org auth-code list', value: 'id', about: ['label'] },
  webhook: { cli: 'webhook list', value: 'webhook_id', about: ['url'] },
  machine: { cli: 'iot list', value: 'machineId', about: ['machineName'] },
  // A decided request is no longer pending.
  request: { cli: 'approve list', value: 'request_id', about: ['action'], lastsMs: 2_000 },
} satisfies Record<string, List>

/** Values from the service or the profile file. */
export type ValueKind = keyof typeof lists | 'profile'
export type Candidate = { value: string; about: string }

/** Lists that need no organization: an operator's key gets all rows. */
const ofAll = new Set<ValueKind>(['org', 'request', 'key', 'webhook'])

// A shell expands the values, so they must not contain characters that are special to a shell.
const harmless = /^[\w][\w.-]{0,62}$/

const offered = (value: unknown, about: unknown): Candidate[] =>
  harmless.test(String(value ?? ''))
    ? [{ value: String(value), about: safeLine(String(about ?? '')).slice(0, 60) }]
    : []

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The flags among the typed words that select the service and the organization. */
const typedFlags = (words: readonly string[]) => {
  const { values } = parseArgs({
    // Bash takes `--org=acme` apart.
    args: words.filter((word) => word !== '='),
    options: {
      profile: { type: 'string', short: 'p' },
      'base-url': { type: 'string' },
      cacert: { type: 'string' },
      org: { type: 'string' },
    },
    strict: false,
  })
  return {
    profile: text(values['profile']),
    baseUrl: text(values['base-url']),
    cacert: text(values['cacert']),
    org: text(values['org']),
  }
}

const savedProfiles = async (io: Io): Promise<ProfileFile['profiles']> => {
  const { createStore } = await import('../context/profile-store.ts')
  return createStore(io).read().profiles
}

const profiles = async (io: Io): Promise<Candidate[]> =>
  Object.entries(await savedProfiles(io)).flatMap(([name, { base_url }]) => offered(name, base_url))

/** Whether the key comes from a command, which may ask for a passphrase before anybody has pressed Enter. */
const keyIsAskedFor = async (profile: string, io: Io): Promise<boolean> => {
  const { api_key, credential_command, ask_credential_command } = (await savedProfiles(io))[profile] ?? {}
  if (io.env['SVC_API_KEY']) return false
  // Without an API key, svc uses the ask key.
  const asks = api_key === undefined && !io.env['SVC_ASK_KEY']
  const command = credential_command ?? (asks ? ask_credential_command : undefined)
  return command !== undefined && command.length > 0
}

const ask = async (kind: keyof typeof lists, org: string | undefined, context: Context) => {
  const { cli, value, about }: List = lists[kind]
  const { table } = await import('../../contract/table.ts')
  const listing = Object.values<Operation>(table).find((one) => one.cli === cli)!
  const client = await context.client()
  const organization =
    kind === 'org' || org === undefined ? {} : { org_id: (await resolveOrg(org, context)).id }
  const input = {
    ...organization,
    ...(kind === 'request' && { status: 'pending' }),
    ...(isPaged(listing) && { limit: mostRows }),
  }
  const { envelope } = await client.call(listing, input, { signal: context.io.signal })
  // Nothing can be done with a revoked key.
  return rowsOf(envelope.data).flatMap((row: Row) =>
    row['revoked_at']
      ? []
      : offered(
          row[value] ?? row['id'],
          about
            .map((name) => cellText(row[name]))
            .join(' ')
            .trim(),
        ),
  )
}

/** The values of one kind. Throws if the service does not answer within two seconds. */
export const candidates = async (kind: ValueKind, words: readonly string[], io: Io): Promise<Candidate[]> => {
  if (kind === 'profile') return profiles(io)
  const { org: named, ...globals } = typedFlags(words)
  const context = createContext(
    { ...io, signal: AbortSignal.any([io.signal, AbortSignal.timeout(limitMs)]) },
    createApprovalGuard,
  )
  Object.assign(context.globals, globals)
  try {
    const { profile, baseUrl, org: usual } = await context.settings()
    const org = named ?? usual?.value
    if (!ofAll.has(kind) && org === undefined) return []
    if (await keyIsAskedFor(profile.value, io)) return []
    const cache = openDiskCache<Candidate[]>(io, [
      kind,
      profile.value,
      baseUrl.value,
      org,
      io.env['SVC_API_KEY'],
      io.env['SVC_ASK_KEY'],
    ])
    const known = cache.read()
    const { lastsMs: most = lastsMs }: List = lists[kind]
    if (known && known.age < most) return known.value
    const found = await ask(kind, org, context)
    cache.keep(found)
    return found
  } finally {
    await context.close()
  }
}
