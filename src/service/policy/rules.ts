import type { Weekday } from '../../core/weekdays.ts'
import { hasPolicy, isRequired, type Policy } from '../../rules/decide.ts'
import { compileLevel, type Level } from '../../rules/level.ts'
import type { Factor } from '../../rules/verdict.ts'
import type { Outside } from '../call/call.ts'
import { organizationRow, reachMember, reachOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'

/** `all`, or of each kind one that counts: enough to tell whether a rule stands. */
type Extent = 'all' | 'one'

export type OrganizationRules = Omit<Policy, 'user'>

const slotOf = <Row extends { days: string }>(row: Row) =>
  Object.assign(row, { days: row.days.split(',') as Weekday[] })

/** What an organization restricts; `required` is what it asks of everybody. 404 when it is gone. */
export const readOrganizationRules = async (
  db: Db,
  orgId: number,
  extent: Extent = 'all',
): Promise<OrganizationRules> => {
  const { policy } = await organizationRow(db, orgId)
  const one = extent === 'one'
  const fences = await db
    .selectFrom('geofences')
    .where('org_id', '=', orgId)
    .$if(one, (query) => query.where('is_active', '=', 1).limit(1))
    .selectAll()
    .execute()
  const slots = await db
    .selectFrom('timeslots')
    .where('org_id', '=', orgId)
    .$if(one, (query) => query.where('is_active', '=', 1).limit(1))
    .selectAll()
    .execute()
  const { ip_allow = [], device_trust = false, factors = [], report_only = [] } = policy
  return {
    organization: compileLevel({ fences, slots: slots.map(slotOf) }),
    required: factors,
    reportOnly: report_only,
    ipAllow: ip_allow,
    deviceTrust: device_trust,
  }
}

/** What one user of an organization is restricted to besides. */
export const readUserLevel = async (
  db: Db,
  orgId: number,
  userId: number,
  extent: Extent = 'all',
): Promise<Level> => {
  const one = extent === 'one'
  const fences = await db
    .selectFrom('user_geofences')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .$if(one, (query) => query.where('enabled', '=', 1).limit(1))
    .selectAll()
    .execute()
  const slots = await db
    .selectFrom('user_timeslots')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .$if(one, (query) => query.where('is_active', '=', 1).limit(1))
    .selectAll()
    .execute()
  return compileLevel({
    fences: fences.map((fence) => Object.assign(fence, { enabled: fence.enabled === 1 })),
    slots: slots.map(slotOf),
  })
}

/** Enough of the rules to tell which stand; nothing can be decided by it. */
export const readStanding = async (db: Db, orgId: number, userId: number): Promise<Policy> => ({
  ...(await readOrganizationRules(db, orgId, 'one')),
  user: await readUserLevel(db, orgId, userId, 'one'),
})

/** The rules for one request: what the approver signed as required stays required. */
export const withAsked = (rules: Policy, factors: readonly Factor[]): Policy => ({
  ...rules,
  required: [...new Set([...factors, ...rules.required])],
  reportOnly: rules.reportOnly.filter((factor) => !factors.includes(factor)),
})

/** Whether an approval without a place would be denied. */
export const requiresLocation = async (
  db: Db,
  row: { org_id: number; user_id: number; factors: string },
): Promise<boolean> => {
  const rules = await readStanding(db, row.org_id, row.user_id)
  return isRequired(withAsked(rules, JSON.parse(row.factors) as Factor[]), 'location')
}

/** Whether it matters where a user is, so that a phone asks its owner for the location. */
export const wantsLocation = async (db: Db, orgId: number, userId: number): Promise<boolean> => {
  const rules = await readStanding(db, orgId, userId)
  return hasPolicy(rules, 'location') || rules.required.includes('location')
}

/** The compiled rules against which a caller tries out a place or a time, out of the memory that decisions use. */
export const rulesToCheck = async (
  { service, caller }: Outside,
  org_id: number,
  user_id: number | undefined,
): Promise<Policy> => {
  await service.storage.read(async (db) => {
    await reachOrganization({ db, caller }, org_id)
    if (user_id !== undefined) await reachMember({ db }, { org_id, user_id })
  })
  return service.rulesFor(org_id, user_id)
}
