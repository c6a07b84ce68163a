import { addMs, dayMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import type { ApprovalRow } from './rows.ts'

/**
 * A header of a write: the request that a person approved for it; of one for many rows also the index of its row, as in
 * `apr_3mYk8wQZ:17`. spec: not shown
 */
export const approvalHeader = 'x-svc-approval'

export type Reference = { request_id: string; row: number | undefined }

export const readReference = (header: string): Reference => {
  const [, request_id = header, row] = /^(.+):(\d{1,9})$/.exec(header) ?? []
  return { request_id, row: row === undefined ? undefined : Number(row) }
}

export const unknownApproval = (): Refusal =>
  new Refusal(
    422,
    'unknown_approval',
    `${approvalHeader} does not name a request of this organization that was approved within the last day`,
    { hint: 'Leave the header out, or request a new approval: svc approve request' },
  )

/**
 * Checks the approval that the audit row of a write will name. It must have been approved within a day. The key that
 * requested it must be the calling key, or another key of the same organization (or of the service), because the
 * requesting key is often not the one that writes. Readers of the audit compare the approved action with the write.
 */
export const checkReference = async (
  { db, caller, now }: Pick<Call, 'db' | 'caller' | 'now'>,
  { status, use_by, use_within_s, asked_by }: ApprovalRow,
): Promise<void> => {
  // Unlike `decided_at`, the MAC of the row covers these.
  const isRecent = use_by !== null && addMs(use_by, dayMs - use_within_s * 1000) >= now
  if (status !== 'approved' || !isRecent) throw unknownApproval()
  if (asked_by === namedKeyOf(caller)) return
  await db
    .selectFrom('api_keys')
    .where('id', '=', asked_by)
    .where('org_id', caller.orgId === null ? 'is' : '=', caller.orgId)
    .select('id')
    .executeTakeFirstOrThrow(unknownApproval)
}
