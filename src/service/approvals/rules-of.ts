import type { Policy as OrganizationPolicy } from '../../contract/records.ts'
import type { Policy } from '../../rules/decide.ts'
import { compileLevel } from '../../rules/level.ts'
import type { Weekday } from '../../rules/slot.ts'
import { notFound } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'

const slotOf = <Row extends { days: string }>(row: Row) => ({
  ...row,
  days: row.days.split(',') as Weekday[],
})

/** All that an organization and one of its users restrict; `required` is what the organization asks of everybody. */
export const readRules = async (db: Db, orgId: number, userId: number): Promise<Policy> => {
  const { policy } = await db
    .selectFrom('organizations')
    .where('id', '=', orgId)
    .select('policy')
    .executeTakeFirstOrThrow(() => notFound('Organization'))
  const fences = await db.selectFrom('geofences').where('org_id', '=', orgId).selectAll().execute()
  const slots = await db.selectFrom('timeslots').where('org_id', '=', orgId).selectAll().execute()
  const userFences = await db
    .selectFrom('user_geofences')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .selectAll()
    .execute()
  const userSlots = await db
    .selectFrom('user_timeslots')
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .selectAll()
    .execute()
  const {
    ip_allow = [],
    device_trust = false,
    factors = [],
    report_only = [],
  } = JSON.parse(policy) as OrganizationPolicy
  return {
    organization: compileLevel({ fences, slots: slots.map(slotOf) }),
    user: compileLevel({
      fences: userFences.map((fence) => Object.assign(fence, { enabled: fence.enabled === 1 })),
      slots: userSlots.map(slotOf),
    }),
    required: factors,
    reportOnly: report_only,
    ipAllow: ip_allow,
    deviceTrust: device_trust,
  }
}
