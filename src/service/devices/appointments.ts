import { conflict, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf, requirePerson } from '../call/caller.ts'
import type { Member } from '../call/tenant.ts'
import { checkActor, goesBackTo } from './origin.ts'

const ownOrigin = (): Refusal =>
  conflict(
    'origin_unknown',
    'You are an administrator because of this person, so you cannot make them one',
    'Ask another administrator, or the operator: svc user make-admin',
  )

/** Records which key, or which device at the approver page, makes a member an administrator. */
export const appoint = async (call: Call, member: Member): Promise<void> => {
  const { db, caller, keyring, now } = call
  const { org_id, user_id } = member
  if (caller.person) {
    const person = requirePerson(caller)
    await checkActor(call, person, user_id)
    if (await goesBackTo(call, person, member)) throw ownOrigin()
  }
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
