import { holdRestored } from '../delivery/rows.ts'
import { forgetPendingDevices } from '../devices/rows.ts'
import type { Db } from '../storage/schema.ts'

/**
 * What a store that was put back must not do: send what may have been sent since, or take a second time what is good
 * once and may have been used since. Who was signed in signs in again.
 */
export const settleRestored = async (db: Db, now: string): Promise<void> => {
  await holdRestored(db, now)
  await db.updateTable('token_families').set({ ended_at: now }).where('ended_at', 'is', null).execute()
  await db
    .updateTable('verifications')
    .set({ expires_at: now })
    .where('spent_at', 'is', null)
    .where('expires_at', '>', now)
    .execute()
  await db.deleteFrom('otps').execute()
  await db.deleteFrom('enrollments').where('used_at', 'is', null).execute()
  // It may have been refused since.
  await forgetPendingDevices(db)
  await db.deleteFrom('email_verifications').where('used_at', 'is', null).execute()
}
