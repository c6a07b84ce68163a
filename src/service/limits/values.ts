import type { limits } from '../../contract/limits.ts'
import { type Counted, limitNames, type Quota, quotas, smsCountries } from '../../contract/quotas.ts'
import { addMs } from '../../core/iso-time.ts'
import { invalid } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { changedFields } from '../call/input.ts'
import { reachOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'
import { statement } from '../storage/statement.ts'

export const bytesPerMib = 1024 * 1024
export const dayMs = 24 * 60 * 60_000

type Count = (db: Db, orgId: number, now: string) => Promise<number>

const rulesOf =
  (own: 'geofences' | 'timeslots', ofUsers: 'user_geofences' | 'user_timeslots'): Count =>
  async (db, orgId) => {
    let sum = 0
    for (const table of [own, ofUsers])
      sum += (
        await db
          .selectFrom(table)
          .where('org_id', '=', orgId)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
      ).count
    return sum
  }

/** How much of each quota an organization uses, in its own unit but for idempotency: bytes. */
export const counts: Record<Counted, Count> = {
  users: async (db, orgId) =>
    (
      await db
        .selectFrom('memberships')
        .where('org_id', '=', orgId)
        .where('state', 'in', ['pending', 'active'])
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  geofences: rulesOf('geofences', 'user_geofences'),
  timeslots: rulesOf('timeslots', 'user_timeslots'),
  pending_approvals: async (db, orgId, now) =>
    (
      await db
        .selectFrom('approvals')
        .where('org_id', '=', orgId)
        .where('status', '=', 'pending')
        .where('expires_at', '>', now)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  sms_per_day: async (db, orgId, now) =>
    (
      await db
        .selectFrom('outbox')
        .where('org_id', '=', orgId)
        .where('channel', '=', 'sms')
        .where('created_at', '>', addMs(now, -dayMs))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  idempotency_mib: async (db, orgId) =>
    (
      await db
        .selectFrom('idempotency')
        .where('org_id', '=', orgId)
        .select(({ fn }) => fn.sum<number | null>('bytes').as('count'))
        .executeTakeFirstOrThrow()
    ).count ?? 0,
}

/** What an organization may use. */
export type LimitValues = { [Q in Quota]: number } & { sms_countries: readonly string[] }

/** The names as the operator sets them. */
export type LimitName = keyof LimitValues

export const standardOf = <N extends LimitName>(name: N): LimitValues[N] =>
  (name === 'sms_countries' ? smsCountries.standard : quotas[name as Quota].standard) as LimitValues[N]

const readValue = statement((db, { orgId, name }: { orgId: number; name: string }) =>
  db.selectFrom('organization_limits').where('org_id', '=', orgId).where('name', '=', name).select('value'),
)

/** One limit of an organization, as it is now. */
export const readLimit = async <N extends LimitName>(
  db: Db,
  orgId: number,
  name: N,
): Promise<LimitValues[N]> => {
  const [row] = (await readValue(db, { orgId, name })).rows
  return row ? (JSON.parse(row.value) as LimitValues[N]) : standardOf(name)
}

const isCounted = (name: LimitName): name is Counted => name in counts

const usedOf = async ({ db, now }: Call, orgId: number, name: LimitName): Promise<number | null> => {
  if (!isCounted(name)) return null
  const used = await counts[name](db, orgId, now)
  return name === 'idempotency_mib' ? Math.ceil(used / bytesPerMib) : used
}

const answered = async (call: Call, orgId: number) => {
  const rows = []
  for (const name of limitNames) {
    const limit = await readLimit(call.db, orgId, name)
    rows.push({
      name,
      limit: typeof limit === 'number' ? limit : [...limit],
      used: await usedOf(call, orgId, name),
      default: name === 'sms_countries' ? [...smsCountries.standard] : quotas[name].standard,
      about: name === 'sms_countries' ? smsCountries.about : quotas[name].about,
    })
  }
  return rows
}

const erase = async ({ db }: Call, org_id: number, names: readonly LimitName[]): Promise<void> => {
  if (names.length === 0) return
  await db.deleteFrom('organization_limits').where('org_id', '=', org_id).where('name', 'in', names).execute()
}

export const getLimits: HandlerOf<typeof limits.getLimits> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  return answered(call, org_id)
}

export const setLimits: HandlerOf<typeof limits.setLimits> = async ({ org_id, ...input }, call) => {
  await reachOrganization(call, org_id)
  const { reset = [], ...values } = changedFields(input, [...limitNames, 'reset'])
  const twice = reset.find((name) => values[name] !== undefined)
  if (twice !== undefined) throw invalid('reset', `names ${twice}, which is also given a value`)
  await erase(call, org_id, reset)
  for (const name of limitNames) {
    const value = values[name]
    if (value === undefined) continue
    const isStandard = JSON.stringify(value) === JSON.stringify(standardOf(name))
    if (isStandard) await erase(call, org_id, [name])
    else
      await call.db
        .insertInto('organization_limits')
        .values({ org_id, name, value: JSON.stringify(value) })
        .onConflict((of) => of.columns(['org_id', 'name']).doUpdateSet({ value: JSON.stringify(value) }))
        .execute()
  }
  await call.audit(org_id, `organization:${org_id}`)
  return answered(call, org_id)
}
