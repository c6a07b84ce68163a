import { conflict } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { isOperator, namedKeyOf, requirePerson } from '../call/caller.ts'
import type { Member } from '../call/tenant.ts'
import { checkAppointer } from './actors.ts'
import { readAppointments } from './appointment-rows.ts'

/** Of one member, by different keys or devices. */
const mostAppointments = 50

/** Records which key, or which device at the approver page, makes a member an administrator. Fails with 409 if there are too many. */
export const appoint = async (call: Call, { org_id, user_id }: Member): Promise<void> => {
  const { db, caller, keyring, now } = call
  const member = { org_id, user_id }
  if (caller.person) await checkAppointer(call, requirePerson(caller), member)
  const by_device = caller.person?.device_id ?? null
  const by_key = by_device === null ? namedKeyOf(caller) : null
  const all = await readAppointments(call, member)
  // Behind a key is always the same.
  if (by_key !== null && all.at(-1)?.by_key === by_key) return
  if (all.length >= mostAppointments && !isOperator(caller))
    throw conflict(
      'too_many_appointments',
      `User ${user_id} was made an administrator ${all.length} times`,
      'Ask the operator of the service to do it',
    )
  const row = { ...member, by_key, by_device, appointed_at: now, earlier: JSON.stringify(all) }
  const row_mac = keyring.macOf('appointments', row)
  await db
    .insertInto('appointments')
    .values({ ...row, row_mac })
    .onConflict((of) => of.columns(['org_id', 'user_id']).doUpdateSet({ ...row, row_mac }))
    .execute()
}
