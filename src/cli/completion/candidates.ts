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
import { rowsOf } from '../terminal/payload.ts'
import type { Candidate, ValueKind } from './offers.ts'

/** The shell waits for the answer while the prompt is blocked. */
const limitMs = 2_000
/** Names of customers are cached only while somebody types. */
const lastsMs = 60_000
const mostRows = 1_000

type Row = Record<string, unknown>
type List = {
  operation(): Promise<Operation>
  input?: Row
  value(row: Row): unknown
  about(row: Row): unknown
  /** How long the answer may be cached, in milliseconds. */
  lastsMs?: number
}

const byId = { value: (row: Row) => row['id'], about: (row: Row) => row['name'] }

const lists: Record<Exclude<ValueKind, 'profile'>, List> = {
  org: {
    operation: async () => (await import('../../contract/org.ts')).org.listOrganizations,
    value: (row) => row['slug'] ?? row['id'],
    about: (row) => row['name'],
  },
  user: {
    operation: async () => (await import('../../contract/user.ts')).user.listUsers,
    value: (row) => row['id'],
    about: (row) => [row['first_name'], row['last_name']].filter(Boolean).join(' '),
  },
  geofence: {
    operation: async () => (await import('../../contract/geofence.ts')).geofence.listGeofences,
    ...byId,
  },
  timeslot: {
    operation: async () => (await import('../../contract/timeslot.ts')).timeslot.listTimeslots,
    ...byId,
  },
  group: {
    operation: async () => (await import('../../contract/group.ts')).group.listGroups,
    value: (row) => row['name'],
    about: (row) => `members: ${String(row['members'])}`,
  },
  rule: {
    operation: async () => (await import('../../contract/rule.ts')).rule.listRules,
    value: (row) => row['name'],
    about: (row) => `asks ${String(row['who'])}`,
  },
  key: {
    operation: async () => (await import('../../contract/key.ts')).key.listKeys,
    // Nothing can be done with a revoked key.
    value: (row) => (row['revoked_at'] ? undefined : row['id']),
    about: (row) => row['name'],
  },
  'auth-code': {
    operation: async () => (await import('../../contract/auth-code.ts')).authCode.listAuthCodes,
    value: (row) => row['id'],
    about: (row) => row['label'],
  },
  webhook: {
    operation: async () => (await import('../../contract/webhook.ts')).webhook.listWebhooks,
    value: (row) => row['webhook_id'],
    about: (row) => row['url'],
  },
  agent: {
    operation: async () => (await import('../../contract/agents.ts')).agents.listAgents,
    value: (row) => row['id'],
    about: (row) => [row['name'], row['owner']].filter(Boolean).join(' of '),
  },
  machine: {
    operation: async () => (await import('../../contract/iot.ts')).iot.listMachines,
    value: (row) => row['machineId'],
    about: (row) => row['machineName'],
  },
  request: {
    operation: async () => (await import('../../contract/approval.ts')).approval.listApprovals,
    input: { status: 'pending' },
    value: (row) => row['request_id'],
    about: (row) => row['action'],
    // A decided request is no longer pending.
    lastsMs: 2_000,
  },
}

/** Lists that need no organization: an operator's key gets all rows. */
const ofAll = new Set<ValueKind>(['org', 'request', 'key', 'webhook', 'agent'])

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
  const { operation, input, value, about } = lists[kind]
  const client = await context.client()
  const organization =
    kind === 'org' || org === undefined ? {} : { org_id: (await resolveOrg(org, context)).id }
  const listing = await operation()
  const page = isPaged(listing) ? { limit: mostRows } : {}
  const { envelope } = await client.call(
    listing,
    { ...input, ...organization, ...page },
    { signal: context.io.signal },
  )
  return rowsOf(envelope.data).flatMap((row) => offered(value(row), about(row)))
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
    if (known && known.age < (lists[kind].lastsMs ?? lastsMs)) return known.value
    const found = await ask(kind, org, context)
    cache.keep(found)
    return found
  } finally {
    await context.close()
  }
}
