import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Call } from '../call/call.ts'
import { notFound, Refusal } from '../../core/refusal.ts'
import { alreadyEnded } from './finish.ts'
import { expireDue, lapsed } from './expiry.ts'
import { answered, selectApprovals, subjectOf, type ApprovalAccess } from './record.ts'

const withdrawnBecause = (why: string | undefined): string =>
  why === undefined ? 'cancelled by the requester' : `withdrawn because ${why}`

/** Withdraws a pending request; it ends as expired, and no decision counts any more. */
export const withdrawApproval = async (
  call: Call,
  request_id: string,
  access: ApprovalAccess,
  why?: string,
): Promise<ApprovalRecord | Refusal> => {
  const { db, now } = call
  const row = await selectApprovals(db, access).where('a.request_id', '=', request_id).executeTakeFirst()
  if (!row) return notFound('Approval request')
  const ended = await db
    .updateTable('approvals')
    .set({ status: 'expired', detail: withdrawnBecause(why), ended_at: now })
    .where('request_id', '=', request_id)
    .where('org_id', '=', row.org_id)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  if (ended) {
    await call.audit(ended.org_id, subjectOf(request_id), ['status'])
    call.wake(ended)
    return answered(ended, call.caller)
  }
  if (row.status !== 'pending') return alreadyEnded(row)
  const [over] = await expireDue(db, now, request_id)
  if (over) call.wake(over)
  return lapsed(over?.detail)
}
