import type { Selectable } from 'kysely'
import type { Db, Tables } from '../storage/schema.ts'

/** A request. */
export type ApprovalRow = Selectable<Tables['approvals']>

/** What one person who is asked answers. */
export type BallotRow = Selectable<Tables['ballots']>

export type RequestKey = Pick<ApprovalRow, 'request_id' | 'org_id'>

export const updateApproval = (db: Db, { request_id, org_id }: RequestKey) =>
  db.updateTable('approvals').where('request_id', '=', request_id).where('org_id', '=', org_id)

/** Nothing ends a request twice. */
export const updatePending = (db: Db, request: RequestKey) =>
  updateApproval(db, request).where('status', '=', 'pending')

export const updateBallots = (db: Db, { request_id, org_id }: RequestKey) =>
  db.updateTable('ballots').where('request_id', '=', request_id).where('org_id', '=', org_id)
