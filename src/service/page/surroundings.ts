import { sql } from 'kysely'
import type { Call } from '../call/call.ts'
import type { Member } from '../call/tenant.ts'
import { devicesOf } from '../devices/active.ts'
import { isAdministrator } from '../devices/administrators.ts'
import type { Db } from '../storage/schema.ts'
import { readAbsences } from '../devices/absences.ts'
import { readEmergencies } from './reviews.ts'

/**
 * What the inbox shows besides requests: how many members and new devices and which reviews wait for this person, and when they
 * are away. `state` changes with that, with the devices of the person, the emergencies that they were told of and, for an
 * administrator, with who waits to join and which recoveries wait for approval.
 */
export const readSurroundings = async (call: { db: Db } & Pick<Call, 'keyring' | 'now'>, member: Member) => {
  const { db } = call
  const emergencies = await readEmergencies(call, member)
  const { waiting_reviews } = emergencies
  const away = (await readAbsences(call, member.org_id, [member.user_id])).get(member.user_id) ?? null
  const devices = await devicesOf(db, member)
    .select(['id', 'name', 'state', 'proof', 'active_from'])
    .execute()
  const own = devices.filter(({ state }) => state === 'pending').length
  if (!(await isAdministrator(db, member)))
    return {
      state: JSON.stringify([devices, emergencies, away]),
      waiting_members: null,
      waiting_devices: own,
      waiting_reviews,
      away,
    }
  const { org_id, user_id } = member
  // In one row: many may wait, and every wait of a page reads this again.
  const waiting = await db
    .selectFrom('memberships')
    .where('org_id', '=', org_id)
    .where('state', '=', 'pending')
    .select(({ fn }) => [
      sql<number>`count(case when held_at is null then 1 end)`.as('count'),
      fn.sum('user_id').as('who'),
      fn.max('updated_at').as('latest'),
    ])
    .executeTakeFirstOrThrow()
  const recoveries = await db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('state', '=', 'pending')
    .where('proof', '=', 'admin')
    .select(['id', 'user_id', 'active_from'])
    .orderBy('id')
    .execute()
  const others = recoveries.filter((one) => one.user_id !== user_id && one.active_from === null)
  return {
    state: JSON.stringify([devices, emergencies, away, waiting, recoveries]),
    waiting_members: Number(waiting.count),
    waiting_devices: own + others.length,
    waiting_reviews,
    away,
  }
}
