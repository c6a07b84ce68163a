import type { HandlerOf } from '../call/call.ts'
import { readPage } from '../call/pagination.ts'
import { reachOrganization } from '../call/tenant.ts'
import { userFenceRecord } from './geofences.ts'
import { slotRecord } from './timeslots.ts'

const grouped = <Row extends { user_id: number }, Rule>(
  rows: Row[],
  rule: (row: Omit<Row, 'user_id'>) => Rule,
): Map<number, Rule[]> => {
  const byUser = new Map<number, Rule[]>()
  for (const { user_id, ...row } of rows) {
    const rules = byUser.get(user_id)
    if (rules) rules.push(rule(row))
    else byUser.set(user_id, [rule(row)])
  }
  return byUser
}

export const listUserRules: HandlerOf<'listUserRules'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const having = call.db
    .selectFrom('memberships as m')
    .where('m.org_id', '=', org_id)
    .where('m.state', '<>', 'removed')
    .where(({ or, exists, selectFrom }) => {
      const fences = selectFrom('user_geofences as r').whereRef('r.user_id', '=', 'm.user_id')
      const slots = selectFrom('user_timeslots as r').whereRef('r.user_id', '=', 'm.user_id')
      return or([
        exists(fences.where('r.org_id', '=', org_id).select('r.id')),
        exists(slots.where('r.org_id', '=', org_id).select('r.id')),
      ])
    })
    .select('m.user_id as id')
  const members = call.db.selectFrom('memberships as m').where('m.org_id', '=', org_id)
  const users = await readPage(call, having, 'm.user_id', members)
  const last = users.at(-1)?.id ?? 0
  const fences = await call.db
    .selectFrom('user_geofences')
    .where('org_id', '=', org_id)
    .where('user_id', '>', call.page.after)
    .where('user_id', '<=', last)
    .select(['user_id', 'name', 'latitude', 'longitude', 'radius', 'enabled'])
    .orderBy('id')
    .execute()
  const slots = await call.db
    .selectFrom('user_timeslots')
    .where('org_id', '=', org_id)
    .where('user_id', '>', call.page.after)
    .where('user_id', '<=', last)
    .select(['user_id', 'name', 'days', 'start', 'end', 'timezone', 'is_active'])
    .orderBy('id')
    .execute()
  const fencesOf = grouped(fences, userFenceRecord)
  const slotsOf = grouped(slots, slotRecord)
  return users.map(({ id: user_id }) => ({
    user_id,
    geofences: fencesOf.get(user_id) ?? [],
    timeslots: slotsOf.get(user_id) ?? [],
  }))
}
