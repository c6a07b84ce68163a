import type { Weekday } from '../../core/weekdays.ts'
import { hasPolicy, isRequired, type Policy } from '../../factors/decide.ts'
import { compileLevel, type Level } from '../../factors/level.ts'
import type { Factor } from '../../factors/verdict.ts'
import type { Outside } from '../call/call.ts'
import { type Member, ofMember, organizationRow, reachMember, reachOrganization } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'

/** `one` reads only one active rule of each kind: enough to know whether there is any. */
type Extent = 'all' | 'one'

export type OrganizationFactors = Omit<Policy, 'user'>

const slotOf = <Row extends { days: string }>(row: Row) =>
  Object.assign(row, { days: row.days.split(',') as Weekday[] })

/** The rules of an organization; `required` are the factors that it requires of everybody. Throws 404 if it is deleted. */
export const readOrganizationFactors = async (
  db: Db,
  orgId: number,
  extent: Extent = 'all',
): Promise<OrganizationFactors> => {
  const { policy } = await organizationRow(db, orgId)
  const one = extent === 'one'
  const fences = await db
    .selectFrom('geofences')
    .where('org_id', '=', orgId)
    .$if(one, (query) => query.where('is_active', '=', 1).limit(1))
    .selectAll()
    .orderBy('id')
    .execute()
  const slots = await db
    .selectFrom('timeslots')
    .where('org_id', '=', orgId)
    .$if(one, (query) => query.where('is_active', '=', 1).limit(1))
    .selectAll()
    .orderBy('id')
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

/** The additional rules of one user of an organization. */
export const readUserLevel = async (db: Db, member: Member, extent: Extent = 'all'): Promise<Level> => {
  const one = extent === 'one'
  const fences = await db
    .selectFrom('user_geofences')
    .where(ofMember(member))
    .$if(one, (query) => query.where('enabled', '=', 1).limit(1))
    .selectAll()
    .orderBy('id')
    .execute()
  const slots = await db
    .selectFrom('user_timeslots')
    .where(ofMember(member))
    .$if(one, (query) => query.where('is_active', '=', 1).limit(1))
    .selectAll()
    .orderBy('id')
    .execute()
  return compileLevel({
    fences: fences.map((fence) => Object.assign(fence, { enabled: fence.enabled === 1 })),
    slots: slots.map(slotOf),
  })
}

/** Enough of the rules to know which factors they restrict, but not to decide. */
export const readRestrictions = async (db: Db, member: Member): Promise<Policy> => ({
  ...(await readOrganizationFactors(db, member.org_id, 'one')),
  user: await readUserLevel(db, member, 'one'),
})

/** The rules for one request: the factors that the approver signed as required stay required. */
export const withRequested = (rules: Policy, factors: readonly Factor[]): Policy => ({
  ...rules,
  required: [...new Set([...factors, ...rules.required])],
  reportOnly: rules.reportOnly.filter((factor) => !factors.includes(factor)),
})

/** Whether the rules deny an approval without a location. */
export const requiresLocation = async (db: Db, row: Member & { factors: string }): Promise<boolean> => {
  const rules = await readRestrictions(db, row)
  return isRequired(withRequested(rules, JSON.parse(row.factors) as Factor[]), 'location')
}

/** Whether any rule uses the location, so that the phone asks its owner for it. */
export const usesLocation = async (db: Db, member: Member): Promise<boolean> => {
  const rules = await readRestrictions(db, member)
  return hasPolicy(rules, 'location') || rules.required.includes('location')
}

/** The cached rules of decisions, for a caller who checks a location or a time. */
export const factorsToCheck = async (
  { service, caller }: Outside,
  org_id: number,
  user_id: number | undefined,
): Promise<Policy> => {
  await service.storage.read(async (db) => {
    await reachOrganization({ db, caller }, org_id)
    if (user_id !== undefined) await reachMember({ db }, { org_id, user_id })
  })
  return service.factorsFor(org_id, user_id)
}
