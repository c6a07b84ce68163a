import type { Call } from '../call/call.ts'
import { namedKeyOf, requirePerson } from '../call/caller.ts'
import type { Member } from '../call/tenant.ts'
import { checkAppointer } from './actors.ts'

/** Records which key, or which device at the approver page, makes a member an administrator. */
export const appoint = async (call: Call, member: Member): Promise<void> => {
  const { db, caller, keyring, now } = call
  const { org_id, user_id } = member
  if (caller.person) await checkAppointer(call, requirePerson(caller), member)
  const by_device = caller.person?.device_id ?? null
  const row = {
    org_id,
    user_id,
    by_key: by_device === null ? namedKeyOf(caller) : null,
    by_device,
    appointed_at: now,
  }
  const row_mac = keyring.macOf('appointments', row)
  await db
    .insertInto('appointments')
    .values({ ...row, row_mac })
    .onConflict((of) => of.columns(['org_id', 'user_id']).doUpdateSet({ ...row, row_mac }))
    .execute()
}
