import type { ApprovalRecord } from '../../contract/approval.ts'
import { withdrawnMark } from '../../contract/approval-state.ts'
import { inWholeSeconds } from '../../core/iso-time.ts'
import { conflict, notFound, Refusal } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { withinOrganization } from '../call/tenant.ts'
import { askAgain } from './ask-again.ts'
import { requireApprovers } from './ballots.ts'
import { proveApproval } from './authentic.ts'
import { tellOfUse } from './emergency-notices.ts'
import { dropRows, expireDue, requestExpired } from './expiry.ts'
import { requireGranter } from './grant-use.ts'
import { wakeOf } from './lines.ts'
import { alreadyEnded } from './posted-decision.ts'
import { type ApprovalRow, isUsable, isUsableBy, endPending } from './rows.ts'
import { type ApprovalAccess, auditSubject, selectApprovals, toApprovalRecord } from './record.ts'
import { requireSameRules } from './rules-of-request.ts'

/** Why the statement of `consumeApproval` changed no row. */
export const notConsumable = (row: ApprovalRow | undefined, digest: string, now: string): Refusal => {
  if (!row) return notFound('Approval request')
  if (row.status !== 'approved')
    return conflict(
      'not_approved',
      `The request is not approved: it is ${row.status}${row.detail === null ? '' : ` (${row.detail})`}`,
      askAgain,
    )
  if (row.subject_digest !== digest)
    return new Refusal(
      422,
      'other_subject',
      `The digest does not match the approved subject, whose digest is ${row.subject_digest}`,
      {
        issues: [{ field: 'digest', message: 'does not match the approved subject' }],
        hint: 'Carry out exactly what was approved, or request an approval of the new action',
      },
    )
  if (row.used_at !== null)
    return conflict(
      'already_used',
      `The approval was already used at ${inWholeSeconds(row.used_at)}; it works once`,
      askAgain,
    )
  if (row.lapsed_at !== null || row.use_by === null || row.use_by <= now)
    return new Refusal(
      410,
      'use_by_passed',
      `The approval had to be used by ${inWholeSeconds(String(row.use_by))}`,
      {
        hint: askAgain,
      },
    )
  return conflict('not_approved', 'The request changed while it was used', 'Run the command again')
}

/**
 * Uses an approval once. One conditional statement decides, so only one of several concurrent callers gets it. Only the
 * requesting key can use it, and only for the approved subject. `proven` is the request as `proveApproval` returned it.
 */
export const useOnce = async (
  call: Call,
  { request_id, digest }: RowInput<'consumeApproval'>,
  proven: ApprovalRow | undefined,
): Promise<ApprovalRecord | Refusal> => {
  const { db, now, caller, keyring } = call
  const askedBy = namedKeyOf(caller)
  const values = proven && { used_at: now, row_mac: keyring.macOf('approvals', { ...proven, used_at: now }) }
  const isUsed =
    proven?.subject_digest === digest &&
    isUsableBy(proven, { askedBy, now }) &&
    (await db
      .updateTable('approvals')
      .set(values!)
      .where('request_id', '=', request_id)
      .where('asked_by', '=', askedBy)
      .where(withinOrganization(caller.orgId, 'org_id'))
      // The row that was proven.
      .where('row_mac', '=', proven.row_mac)
      .where('subject_digest', '=', digest)
      .where(isUsable(now))
      .returning('id')
      .executeTakeFirst()) !== undefined
  if (isUsed) {
    // Not what the statement found: another program could change it in between.
    const used: ApprovalRow = { ...proven, ...values }
    await requireSameRules(call, used)
    await requireGranter(call, used)
    await requireApprovers(call, used)
    await call.audit(used.org_id, auditSubject(request_id), ['used_at'])
    await tellOfUse(call, used)
    return toApprovalRecord(used, call)
  }
  const row = await selectApprovals(db, { orgId: caller.orgId, askedBy })
    .where('a.request_id', '=', request_id)
    .executeTakeFirst()
  throw notConsumable(row, digest, now)
}

export const consumeApproval: HandlerOf<'consumeApproval'> = {
  before: async (input, { service, caller }) => {
    const access = { orgId: caller.orgId, askedBy: namedKeyOf(caller) }
    const proven = await proveApproval(service, input.request_id, access)
    return (call) => useOnce(call, input, proven)
  },
}

/** Withdraws a pending request. It ends as expired, and no later decision counts. */
export const endByRequester = async (
  call: Call,
  request_id: string,
  access: ApprovalAccess,
  reason?: string,
): Promise<ApprovalRecord | Refusal> => {
  const { db, now } = call
  const row = await selectApprovals(db, access).where('a.request_id', '=', request_id).executeTakeFirst()
  if (!row) return notFound('Approval request')
  const detail = `${withdrawnMark} ${reason === undefined ? 'by the requester' : `because ${reason}`}`
  const ended = await endPending(call, row, { status: 'expired', detail, ended_at: now })
    .where('expires_at', '>', now)
    .returningAll()
    .executeTakeFirst()
  if (ended) {
    await dropRows(db, ended)
    await call.audit(ended.org_id, auditSubject(request_id), ['status', 'withdrawn'])
    call.wake(wakeOf(ended))
    return toApprovalRecord(ended, call)
  }
  if (row.status !== 'pending') return alreadyEnded(row)
  const [expired] = await expireDue(call, now, { request_id })
  if (expired) call.wake(expired)
  return requestExpired(expired?.detail)
}
