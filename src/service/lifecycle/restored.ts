import { endedByRestore } from '../approvals/expiry.ts'
import { auditByService } from '../call/audit.ts'
import { countRows } from '../call/pagination.ts'
import { holdRestored } from '../delivery/rows.ts'
import { forgetPendingDevices } from '../devices/rows.ts'
import { stopRestored } from '../events/webhook-rows.ts'
import { isLive } from '../keys/rows.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { skipIds } from '../storage/skip-ids.ts'
import { forgetMove } from './moved.ts'

/** At most this many keys and devices are listed. */
const listed = 50

/** What counts again after a restore. Whatever was revoked after `until` is unknown to the backup. */
export type Returned = {
  /** When the last change in the backup was made; null if there was none. */
  until: string | null
  keys: { id: number; name: string; org_id: number | null; created_at: string }[]
  devices: { id: number; name: string; org_id: number; user_id: number; registered_at: string }[]
  /** How many there are in all. */
  counts: { keys: number; devices: number }
}

const readReturned = async (db: Db, now: string): Promise<Returned> => {
  const last = await db
    .selectFrom('audit')
    .select(({ fn }) => fn.max('at').as('at'))
    .executeTakeFirst()
  const keys = db.selectFrom('api_keys').where(isLive(now))
  const devices = db.selectFrom('devices').where('state', '=', 'active')
  return {
    until: last?.at ?? null,
    keys: await keys.select(['id', 'name', 'org_id', 'created_at']).orderBy('id').limit(listed).execute(),
    devices: await devices
      .select(['id', 'name', 'org_id', 'user_id', 'registered_at'])
      .orderBy('id')
      .limit(listed)
      .execute(),
    counts: { keys: await countRows(keys), devices: await countRows(devices) },
  }
}

/**
 * Makes a restored store safe. It must not send messages that may have been sent since the backup, nor accept approvals,
 * one-time codes, links and verifications that may have been used since. Everybody signs in again. It has no master key, so
 * it only ends rows, and takes the MAC of what could otherwise be put back by changing it.
 */
const settle = async (db: Db, now: string): Promise<Returned> => {
  const returned = await readReturned(db, now)
  await db
    .updateTable('approvals')
    .set({ status: 'expired', detail: endedByRestore, ended_at: now, row_mac: null })
    .where('erased_at', 'is', null)
    .where(({ eb, or, and }) =>
      or([
        eb('status', '=', 'pending'),
        and([eb('status', '=', 'approved'), eb('used_at', 'is', null), eb('use_by', '>', now)]),
        // What was granted can have ended since.
        and([eb('status', '=', 'approved'), eb('granted_until', '>', now)]),
      ]),
    )
    .execute()
  await db.deleteFrom('approver_sessions').execute()
  await db.updateTable('token_families').set({ ended_at: now }).where('ended_at', 'is', null).execute()
  await db.deleteFrom('refresh_tokens').execute()
  await db.deleteFrom('verifications').where('spent_at', 'is', null).execute()
  await stopRestored(db, now)
  await holdRestored(db, now)
  await forgetMove(db)
  await db.deleteFrom('otps').execute()
  await db.deleteFrom('enrollments').where('used_at', 'is', null).execute()
  // An administrator may have refused one since.
  await forgetPendingDevices(db)
  await db.deleteFrom('email_verifications').where('used_at', 'is', null).execute()
  // Codes without a limit of uses stay: a restore gives nothing back to them.
  await db
    .updateTable('auth_codes')
    .set({ uses_left: 0, updated_at: now })
    .where('uses_left', 'is not', null)
    .execute()
  await skipIds(db)
  await auditByService({ db }, now, { orgId: 0, action: 'settleRestored', subject: 'store' })
  return returned
}

export const settleRestored = (storage: Storage): Promise<Returned> =>
  storage.write((db) => settle(db, storage.now()), { org: 0 })
