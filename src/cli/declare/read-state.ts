import { recordIn, rowsIn } from '../../client/answer-data.ts'
import type { Client } from '../../client/client.ts'
import { geofence } from '../../contract/geofence.ts'
import { group } from '../../contract/group.ts'
import type { Operation } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import { authCode } from '../../contract/auth-code.ts'
import { org } from '../../contract/org.ts'
import { timeslot } from '../../contract/timeslot.ts'
import { user } from '../../contract/user.ts'
import { SvcError } from '../../core/errors.ts'
import { isUnsupported } from '../context/own-key.ts'
import { wholeNumber } from '../../core/phone-parts.ts'
import { inParallel } from '../../core/in-parallel.ts'
import {
  isSigned,
  keyOf,
  knownFields,
  normal,
  organizationFields,
  type Fields,
  type Id,
  type List,
  type Row,
  type Section,
  type State,
  whomOf,
} from './state.ts'

/** What to read: sections, and whether to read the geofences and time slots of users. */
export type Coverage = { sections: readonly Section[]; rules: boolean }

type Reading = Pick<State, 'names'> & { client: Client; org_id: number; signal: AbortSignal }
type Rules = { geofences?: unknown; timeslots?: unknown }

const lists: Record<List, Operation> = {
  geofences: geofence.listGeofences,
  timeslots: timeslot.listTimeslots,
  auth_codes: authCode.listAuthCodes,
  users: user.listUsers,
  groups: group.listGroups,
  rules: rule.listRules,
}

const readAll = async (operation: Operation, { client, org_id, signal }: Reading): Promise<Fields[]> => {
  const rows: Fields[] = []
  for await (const answer of client.pages(operation, { org_id }, { signal }))
    for (const row of rowsIn(operation, answer)) rows.push(row)
  return rows
}

const isMember = ({ state }: Fields): boolean => state !== 'rejected' && state !== 'removed'

const rowOf = (section: List, record: Fields): Row => {
  const key = section === 'users' ? wholeNumber(record) : record[keyOf[section]]
  if (typeof key !== 'string')
    throw new SvcError('failed', 'no_key', `The service returned ${section} without ${keyOf[section]}`, {
      hint: 'This service cannot be compared with a file',
    })
  // A file leaves a field out to say that there is no limit or no expiry; the service returns null.
  const { uses_left, expires_at } = record
  const fields = knownFields(section, {
    ...record,
    uses: uses_left ?? undefined,
    expires_at: expires_at ?? undefined,
  })
  const { id, asleep } = record
  return {
    key,
    fields,
    ...((typeof id === 'number' || typeof id === 'string') && { id }),
    ...(Array.isArray(asleep) && { asleep: asleep as string[] }),
  }
}

const readRulesByUser = async (users: Row[], reading: Reading): Promise<Map<string, Rules>> => {
  const { client, org_id, signal } = reading
  const rules = new Map<string, Rules>()
  await inParallel(users, signal, async ({ id: userId }) => {
    if (userId === undefined) return
    const [geofences, timeslots] = await Promise.all(
      [geofence.listUserGeofences, timeslot.listUserTimeslots].map(async (operation) => {
        const { envelope } = await client.call(operation, { userId: String(userId), org_id }, { signal })
        return envelope.data
      }),
    )
    rules.set(String(userId), { geofences, timeslots })
  })
  return rules
}

/** Reads the rules of all users in one list or, if the service has no such list, in two requests for each user. */
const addRules = async (users: Row[], reading: Reading): Promise<void> => {
  let rules: Map<string, Rules>
  let absent: Rules = { geofences: [], timeslots: [] }
  try {
    const rows = await readAll(user.listUserRules, reading)
    rules = new Map(rows.map((row) => [String(row.user_id), row]))
  } catch (error) {
    if (!isUnsupported(error)) throw error
    rules = await readRulesByUser(users, reading)
    absent = {}
  }
  for (const { id, fields } of users) {
    const { geofences, timeslots } = rules.get(String(id)) ?? absent
    if (geofences !== undefined) fields.geofences = normal('geofences', geofences)
    if (timeslots !== undefined) fields.timeslots = normal('timeslots', timeslots)
  }
}

/** A third-party service may have no groups and no rules. */
const readIfServed = (operation: Operation, reading: Reading): Promise<Fields[]> =>
  readAll(operation, reading).catch((error: unknown) => {
    if (error instanceof SvcError && (error.exit === 'notFound' || error.code === 'unexpected_answer'))
      return []
    throw error
  })

/** A file names the members of a group by their numbers. */
const readGroups = async (reading: Reading): Promise<Fields[]> => {
  const groups = await readIfServed(group.listGroups, reading)
  if (groups.length === 0) return []
  const people = await readAll(user.listUsers, reading)
  const numbers = new Map(people.map((one) => [String(one.id), wholeNumber(one)]))
  for (const one of people)
    reading.names.set(String(wholeNumber(one)), whomOf({ id: one.id as Id, fields: one }))
  const numberOf = (member: string): string => numbers.get(member) ?? member
  return groups.map(({ name, id, members, asleep = [] }) => ({
    name,
    id,
    members: (members as string[]).map(numberOf),
    asleep: (asleep as string[]).map(numberOf),
  }))
}

/** Sorts rows by key. Rows that share a key go to `ambiguous`, because a file cannot distinguish them. */
const separate = (section: Section, rows: Row[], ambiguous: State['ambiguous']): Row[] => {
  const byKey = new Map<string, Row[]>()
  for (const row of rows) byKey.set(row.key, [...(byKey.get(row.key) ?? []), row])
  const unique: Row[] = []
  for (const [key, same] of byKey)
    if (same.length === 1) unique.push(same[0]!)
    else ambiguous.push({ section, key, ids: same.flatMap(({ id }) => id ?? []) })
  return unique.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const readSection = async (section: List | 'idp', scope: Coverage, reading: Reading): Promise<Row[]> => {
  const { client, org_id, signal } = reading
  if (section === 'idp') {
    const answer = await client.call(org.getApiCredentials, { org_id }, { signal })
    const { idp } = recordIn(org.getApiCredentials, answer)
    return idp ? [{ key: 'idp', fields: knownFields('idp', idp) }] : []
  }
  const read = { groups: readGroups, rules: () => readIfServed(rule.listRules, reading) } as const
  const records = await (isSigned(section) ? read[section](reading) : readAll(lists[section], reading))
  const rows = records.filter(isMember).map((record) => rowOf(section, record))
  if (section === 'users' && scope.rules) await addRules(rows, reading)
  return rows
}

const findOrganization = async (
  idOrSlug: string,
  client: Client,
  signal: AbortSignal,
): Promise<Fields | undefined> => {
  try {
    const answer = await client.call(org.getOrganization, { orgIdOrSlug: idOrSlug }, { signal })
    return recordIn(org.getOrganization, answer)
  } catch (error) {
    // A 404 without an envelope is a web page: the address is wrong.
    if (error instanceof SvcError && error.exit === 'notFound' && error.data !== undefined) return undefined
    throw error
  }
}

const isScope = ({ error }: { error: unknown }): boolean =>
  error instanceof SvcError && error.code === 'scope_missing'

/** Names all sections at once that the key cannot read. */
const throwFailures = (results: PromiseSettledResult<void>[], sections: readonly Section[]): void => {
  const failures = results.flatMap((one, at) =>
    one.status === 'rejected' ? [{ error: one.reason as unknown, section: sections[at]! }] : [],
  )
  const [first] = failures.toSorted((one, other) => Number(isScope(one)) - Number(isScope(other)))
  if (!first) return
  if (!isScope(first)) throw first.error
  const names = failures.map(({ section }) => section).join(', ')
  throw (first.error as SvcError).with({
    message: `This key cannot read ${names} of the organization`,
    hint: 'Use a key that can read them, or a file without them; svc whoami shows what a key can do',
  })
}

/** Reads the parts of an organization that `scope` names. Without `org_id` in the result, it does not exist. */
export const readState = async (
  client: Client,
  idOrSlug: string,
  scope: Coverage,
  signal: AbortSignal,
): Promise<State> => {
  const record = await findOrganization(idOrSlug, client, signal)
  const state: State = { slug: idOrSlug, rows: {}, ambiguous: [], names: new Map() }
  if (!record) {
    for (const section of scope.sections) state.rows[section] = []
    return state
  }
  if (typeof record.id !== 'number' || typeof record.slug !== 'string')
    throw new SvcError('failed', 'no_id', `The service did not return an id for the organization ${idOrSlug}`)
  if (String(/^\d+$/.test(idOrSlug) ? record.id : record.slug) !== idOrSlug)
    throw new SvcError(
      'failed',
      'other_organization',
      `The service returned ${record.slug} instead of ${idOrSlug}`,
    )
  state.org_id = record.id
  state.slug = record.slug
  const reading = { client, org_id: record.id, signal, names: state.names }
  const read = scope.sections.map(async (section): Promise<void> => {
    state.rows[section] =
      section === 'organization'
        ? [{ key: state.slug, id: reading.org_id, fields: organizationFields(record) }]
        : separate(section, await readSection(section, scope, reading), state.ambiguous)
  })
  throwFailures(await Promise.allSettled(read), scope.sections)
  state.ambiguous.sort((a, b) => (a.section + a.key < b.section + b.key ? -1 : 1))
  return state
}
