import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import type { Db } from '../storage/schema.ts'

/** No limit looks further back. */
const keptMs = 24 * 60 * 60_000

/**
 * Erases the requests to a member who is deleted. Of the last day's, the times stay without any text, so that the limits
 * still hold for a person who is created again.
 */
export const eraseApprovals = async (
  call: Call,
  { org_id, user_id }: { org_id: number; user_id: number },
): Promise<void> => {
  const { db, now } = call
  const recent = await db
    .selectFrom('approvals')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('requested_at', '>', addMs(now, -keptMs))
    .select(['id', 'request_id', 'org_id', 'user_id', 'key_id', 'asked_by', 'nonce'])
    .select(['status', 'requested_at', 'expires_at', 'decided_at', 'ended_at'])
    .execute()
  await db.deleteFrom('approvals').where('org_id', '=', org_id).where('user_id', '=', user_id).execute()
  for (const { status, ended_at, ...row } of recent) {
    const ended = status === 'pending' ? { status: 'expired' as const, ended_at: now } : { status, ended_at }
    await db
      .insertInto('approvals')
      .values({
        ...row,
        ...ended,
        requester: '',
        action: '',
        approver_mobile: '',
        factors: '[]',
        erased_at: now,
      })
      .execute()
    if (status === 'pending') call.wake(row)
  }
}

/** Forgets what was kept for limits that have passed. */
export const forgetErased = async (db: Db, now: string): Promise<void> => {
  await db.deleteFrom('approvals').where('erased_at', '<=', addMs(now, -keptMs)).execute()
}
