import type { HandlerOf } from '../call/call.ts'
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
  const { page, paged } = call
  const having = (table: 'user_geofences' | 'user_timeslots') =>
    call.db
      .selectFrom(`${table as 'user_geofences'} as r`)
      .innerJoin('memberships as m', (on) =>
        on.onRef('m.org_id', '=', 'r.org_id').onRef('m.user_id', '=', 'r.user_id'),
      )
      .where('r.org_id', '=', org_id)
      .where('r.user_id', '>', page.after)
      .where('m.state', '<>', 'removed')
      .select('r.user_id as id')
  // From the rules, because few members have their own.
  const found = await having('user_geofences')
    .union(having('user_timeslots'))
    .orderBy('id')
    .limit(page.limit + 1)
    .execute()
  const users = paged(found, ({ id }) => id)
  const last = users.at(-1)?.id ?? 0
  const fences = await call.db
    .selectFrom('user_geofences')
    .where('org_id', '=', org_id)
    .where('user_id', '>', page.after)
    .where('user_id', '<=', last)
    .select(['user_id', 'name', 'latitude', 'longitude', 'radius', 'enabled'])
    .orderBy('id')
    .execute()
  const slots = await call.db
    .selectFrom('user_timeslots')
    .where('org_id', '=', org_id)
    .where('user_id', '>', page.after)
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
