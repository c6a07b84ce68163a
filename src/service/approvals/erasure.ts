import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import type { Db } from '../storage/schema.ts'

/** No limit looks further back. */
const keptMs = 24 * 60 * 60_000

/**
 * Erases the requests to a member who is deleted. The times of the last day stay without any text, so that the limits
 * still apply if the person is created again.
 */
export const eraseApprovals = async (call: Call, member: Member): Promise<void> => {
  const { db, now } = call
  const recent = await db
    .selectFrom('approvals')
    .where(ofMember(member))
    .where('requested_at', '>', addMs(now, -keptMs))
    .select(['id', 'request_id', 'org_id', 'user_id', 'key_id', 'asked_by', 'nonce'])
    .select(['status', 'requested_at', 'expires_at', 'decided_at', 'ended_at'])
    .orderBy('id')
    .execute()
  await db.deleteFrom('approvals').where(ofMember(member)).execute()
  const texts = { requester: '', verified_as: '', action: '', approver_mobile: '', factors: '[]' }
  const subject = { subject_type: '', subject_digest: '' }
  const key = {
    key_name: '',
    key_scopes: '',
    key_influences: 0,
    by_rule: 0,
    org_slug: '',
    use_within_s: 0,
  } as const
  const blank = { ...texts, ...subject, ...key, asked_via: 'api', erased_at: now } as const
  for (const row of recent) {
    const isPending = row.status === 'pending'
    const end = isPending && ({ status: 'expired', ended_at: now } as const)
    await db
      .insertInto('approvals')
      .values({ ...row, ...end, ...blank })
      .execute()
    if (isPending) call.wake(row)
  }
}

/** Deletes the times that no limit needs any more. */
export const forgetErased = async (db: Db, now: string): Promise<void> => {
  await db.deleteFrom('approvals').where('erased_at', '<=', addMs(now, -keptMs)).execute()
}
