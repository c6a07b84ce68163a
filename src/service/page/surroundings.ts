import type { Member } from '../call/tenant.ts'
import { devicesOf } from '../devices/active.ts'
import { isAdministrator } from '../devices/administrators.ts'
import type { Db } from '../storage/schema.ts'

/**
 * Changes with what the page shows besides requests: the devices of the person and, for an administrator, who waits to join
 * and which recoveries wait for approval.
 */
export const readSurroundings = async (db: Db, member: Member): Promise<string> => {
  const devices = await devicesOf(db, member)
    .select(['id', 'name', 'state', 'proof', 'active_from'])
    .execute()
  if (!(await isAdministrator(db, member))) return JSON.stringify(devices)
  const { org_id } = member
  // In one row: many may wait, and every wait of a page reads this again.
  const waiting = await db
    .selectFrom('memberships')
    .where('org_id', '=', org_id)
    .where('state', '=', 'pending')
    .select(({ fn }) => [
      fn.countAll().as('count'),
      fn.sum('user_id').as('who'),
      fn.max('updated_at').as('latest'),
    ])
    .execute()
  const recoveries = await db
    .selectFrom('devices')
    .where('org_id', '=', org_id)
    .where('state', '=', 'pending')
    .where('proof', '=', 'admin')
    .select(['id', 'active_from'])
    .orderBy('id')
    .execute()
  return JSON.stringify([devices, waiting, recoveries])
}
