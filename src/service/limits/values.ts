import { type Counted, limitNames, type Quota, quotas, smsCountries } from '../../contract/quotas.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import { invalid } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import { countRows } from '../call/pagination.ts'
import { reachOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'

export const bytesPerMib = 1024 * 1024

/** How the operator raises a limit of an organization, as a hint. */
export const raiseHint = (orgId: number, quota: Quota): string =>
  `Only the operator of the service can raise it: svc org limits set --org ${orgId} --${quota.replaceAll('_', '-')} N`

type Count = (db: Db, orgId: number, now: string) => Promise<number>

const countRules =
  (own: 'geofences' | 'timeslots'): Count =>
  async (db, orgId) =>
    (await countRows(db.selectFrom(own).where('org_id', '=', orgId))) +
    (await countRows(db.selectFrom(`user_${own}`).where('org_id', '=', orgId)))

/** The text messages that count against `sms_per_day`. */
export const messagesOfDay = (db: Db, orgId: number, now: string) =>
  db
    .selectFrom('outbox')
    .where('org_id', '=', orgId)
    .where('channel', '=', 'sms')
    .where('created_at', '>', addMs(now, -dayMs))

/** How much of each quota an organization uses, in the unit of the quota; idempotency in bytes. */
export const counts: Record<Counted, Count> = {
  users: (db, orgId) =>
    countRows(
      db.selectFrom('memberships').where('org_id', '=', orgId).where('state', 'in', ['pending', 'active']),
    ),
  geofences: countRules('geofences'),
  timeslots: countRules('timeslots'),
  groups: (db, orgId) =>
    countRows(db.selectFrom('groups').where('org_id', '=', orgId).where('deleted_at', 'is', null)),
  // Not those of sign-ins and agents, which have a limit of each person.
  keys: (db, orgId) =>
    countRows(
      db
        .selectFrom('api_keys')
        .where('org_id', '=', orgId)
        .where('client_id', 'is', null)
        .where('revoked_at', 'is', null),
    ),
  pending_approvals: (db, orgId, now) =>
    countRows(
      db
        .selectFrom('approvals')
        .where('org_id', '=', orgId)
        .where('status', '=', 'pending')
        .where('expires_at', '>', now),
    ),
  sms_per_day: (db, orgId, now) => countRows(messagesOfDay(db, orgId, now)),
  idempotency_mib: async (db, orgId) =>
    (
      await db
        .selectFrom('idempotency')
        .where('org_id', '=', orgId)
        .select(({ fn }) => fn.sum<number | null>('bytes').as('count'))
        .executeTakeFirstOrThrow()
    ).count ?? 0,
}

/** The limits of an organization, under the names that the operator sets. */
type LimitValues = { [Q in Quota]: number } & { sms_countries: readonly string[] }
type LimitName = keyof LimitValues

const limitDefinitions = { ...quotas, sms_countries: smsCountries }

const readValue = statement((db, { orgId, name }: { orgId: number; name: string }) =>
  db.selectFrom('organization_limits').where('org_id', '=', orgId).where('name', '=', name).select('value'),
)

export const readLimit = async <N extends LimitName>(
  db: Db,
  orgId: number,
  name: N,
): Promise<LimitValues[N]> => {
  const [row] = (await readValue(db, { orgId, name })).rows
  return row ? (JSON.parse(row.value) as LimitValues[N]) : (limitDefinitions[name].standard as LimitValues[N])
}

const readUsed = async ({ db, now }: Call, orgId: number, name: LimitName): Promise<number | null> => {
  if (!(name in counts)) return null
  const used = await counts[name as Counted](db, orgId, now)
  return name === 'idempotency_mib' ? Math.ceil(used / bytesPerMib) : used
}

const copied = (limit: number | readonly string[]) => (typeof limit === 'number' ? limit : [...limit])

const readLimits = async (call: Call, orgId: number) => {
  const rows = []
  for (const name of limitNames) {
    const { standard, about } = limitDefinitions[name]
    rows.push({
      name,
      limit: copied(await readLimit(call.db, orgId, name)),
      used: await readUsed(call, orgId, name),
      default: copied(standard),
      about,
    })
  }
  return rows
}

export const getLimits: HandlerOf<'getLimits'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  return readLimits(call, org_id)
}

export const setLimits: HandlerOf<'setLimits'> = async ({ org_id, ...input }, call) => {
  await reachOrganization(call, org_id)
  const { reset = [], ...values } = changedFields(input, [...limitNames, 'reset'])
  const twice = reset.find((name) => values[name] !== undefined)
  if (twice !== undefined) throw invalid('reset', `names ${twice}, which is also set`)
  const changed = limitNames.filter((name) => reset.includes(name) || values[name] !== undefined)
  for (const name of changed) {
    await call.db
      .deleteFrom('organization_limits')
      .where('org_id', '=', org_id)
      .where('name', '=', name)
      .execute()
    const value = JSON.stringify(values[name] ?? limitDefinitions[name].standard)
    if (value !== JSON.stringify(limitDefinitions[name].standard))
      await call.db.insertInto('organization_limits').values({ org_id, name, value }).execute()
  }
  await call.audit(org_id, `organization:${org_id}`)
  return readLimits(call, org_id)
}
