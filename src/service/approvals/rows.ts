import type { ExpressionBuilder, Selectable } from 'kysely'
import type { Call } from '../call/call.ts'
import type { Db, Tables } from '../storage/schema.ts'

/** A request. */
export type ApprovalRow = Selectable<Tables['approvals']>

/** What one person who is asked answers. */
export type BallotRow = Selectable<Tables['ballots']>

export type RequestKey = Pick<ApprovalRow, 'request_id' | 'org_id'>

export const updateApproval = (db: Db, { request_id, org_id }: RequestKey) =>
  db.updateTable('approvals').where('request_id', '=', request_id).where('org_id', '=', org_id)

/** The approvals that can be used now: approved, not used, and not too late. */
export const isUsable =
  (now: string) =>
  ({ eb, and }: ExpressionBuilder<Tables, 'approvals'>) =>
    and([
      eb('status', '=', 'approved'),
      eb('used_at', 'is', null),
      eb('use_by', '>', now),
      eb('lapsed_at', 'is', null),
    ])

/** As `isUsable`, of a row that was proven, by the key that asked for it: another program could change the columns for one statement. */
export const isUsableBy = (
  { status, asked_by, use_by, used_at }: ApprovalRow,
  { askedBy, now }: { askedBy: number; now: string },
): boolean =>
  status === 'approved' && asked_by === askedBy && used_at === null && use_by !== null && use_by > now

/** Nothing ends a request twice. */
export const updatePending = (db: Db, request: RequestKey) =>
  updateApproval(db, request).where('status', '=', 'pending')

type Ended = Partial<ApprovalRow> &
  Pick<ApprovalRow, 'ended_at'> & { status: 'approved' | 'denied' | 'expired' }

/** Changes with the MAC of the row that they make; of a row that another program has changed, with none. */
export const sealedChanges = (
  { keyring }: Pick<Call, 'keyring'>,
  row: ApprovalRow,
  changes: Partial<ApprovalRow>,
): Partial<ApprovalRow> => ({
  ...changes,
  row_mac: keyring.holds('approvals', row) ? keyring.macOf('approvals', { ...row, ...changes }) : null,
})

/** Ends a pending request. Its end is under the MAC, so that nobody takes it up again. */
export const endPending = (call: Pick<Call, 'db' | 'keyring'>, row: ApprovalRow, ended: Ended) =>
  updatePending(call.db, row).set(sealedChanges(call, row, ended))

export const updateBallots = (db: Db, { request_id, org_id }: RequestKey) =>
  db.updateTable('ballots').where('request_id', '=', request_id).where('org_id', '=', org_id)
