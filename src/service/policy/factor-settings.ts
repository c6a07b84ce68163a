import { type Expression, type Selectable, sql, type SqlBool } from 'kysely'
import type { Weekday } from '../../core/weekdays.ts'
import { hasPolicy, isRequired, type Policy } from '../../factors/decide.ts'
import { compileLevel, type Level } from '../../factors/level.ts'
import type { Factor } from '../../factors/verdict.ts'
import type { Outside } from '../call/call.ts'
import {
  type Member,
  ofMember,
  organizationRow,
  reachMember,
  reachOrganization,
  withinOrganization,
} from '../call/tenant.ts'
import type { Db, Tables } from '../storage/schema.ts'

/** `one` reads only one active rule of each kind: enough to know whether there is any. */
type Extent = 'all' | 'one'

export type OrganizationFactors = Omit<Policy, 'user'>

type RuleTable = 'geofences' | 'timeslots' | 'user_geofences' | 'user_timeslots'

const readRules = <T extends RuleTable>(db: Db, table: T, of: Expression<SqlBool>, extent: Extent) =>
  db
    .selectFrom(table as 'timeslots')
    .where(of)
    .$if(extent === 'one', (query) =>
      query.where(sql.ref(table === 'user_geofences' ? 'enabled' : 'is_active'), '=', 1).limit(1),
    )
    .selectAll()
    .orderBy('id')
    .execute() as Promise<unknown> as Promise<Selectable<Tables[T]>[]>

const slotOf = <Row extends { days: string }>(row: Row) =>
  Object.assign(row, { days: row.days.split(',') as Weekday[] })

/** The rules of an organization; `required` are the factors that it requires of everybody. Throws 404 if it is deleted. */
export const readOrganizationFactors = async (
  db: Db,
  orgId: number,
  extent: Extent = 'all',
): Promise<OrganizationFactors> => {
  const { policy } = await organizationRow(db, orgId)
  const own = withinOrganization(orgId, 'org_id')
  const fences = await readRules(db, 'geofences', own, extent)
  const slots = await readRules(db, 'timeslots', own, extent)
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
  const fences = await readRules(db, 'user_geofences', ofMember(member), extent)
  const slots = await readRules(db, 'user_timeslots', ofMember(member), extent)
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

/** Whether approvals of one of these people are checked against more than the device, which no use of a grant is. */
export const isRestrictedAmong = async (db: Db, people: readonly Member[]): Promise<boolean> => {
  for (const person of people) {
    const rules = await readRestrictions(db, person)
    if ((['location', 'time', 'ip'] as const).some((factor) => isRequired(rules, factor))) return true
  }
  return false
}

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
