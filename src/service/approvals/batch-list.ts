import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import type { Selectable } from 'kysely'
import { sha256 } from '../../core/ids.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { countRows, readPage } from '../call/pagination.ts'
import type { Tables } from '../storage/schema.ts'
import { requestNotAuthentic } from './authentic.ts'
import { rowsOf } from './batch-rows.ts'
import { approvalAccess, findApproval } from './record.ts'
import type { ApprovalRow } from './rows.ts'
import type { RequestSubject } from './write-subject.ts'

type Row = Selectable<Tables['batch_rows']>

/**
 * Throws 403 for a row that another program has changed: its digest has the MAC, and what is shown has the digest, so that nobody
 * reads one thing and signs another.
 */
const subjectOf = ({ keyring }: Pick<Call, 'keyring'>, row: Row): RequestSubject => {
  if (!keyring.holds('batch_rows', row) || sha256(row.data) !== row.digest)
    throw requestNotAuthentic('decided')
  return { type: 'request', data: JSON.parse(row.data) as RequestSubject['data'] }
}

export const listBatchRows: HandlerOf<'listBatchRows'> = async ({ request_id }, call) => {
  const request = await findApproval(call.db, request_id, approvalAccess(call.caller))
  const rows = await readPage(call, rowsOf(call.db, request).selectAll(), 'id')
  return rows.map((row) => {
    const { row_index, digest, used_at } = row
    const subject = subjectOf(call, row)
    return { row_index, summary: summaryOf(subject), data: subject.data, digest, used_at }
  })
}

/** As many as a phone shows at once. */
const shownAtOnce = 20

/** Some rows of a request as the person who is asked reads them, and how many follow. */
export const readRowTexts = async (
  call: Pick<Call, 'db' | 'keyring'>,
  request: ApprovalRow,
  from: number,
) => {
  const after = rowsOf(call.db, request).selectAll().where('row_index', '>=', from)
  const rows = await after.orderBy('row_index').limit(shownAtOnce).execute()
  const count = await countRows(after)
  return {
    rows: rows.map((row) => {
      const subject = subjectOf(call, row)
      return { data: subject.data, summary: summaryOf(subject), fields: fieldsOf(subject) }
    }),
    left: count - rows.length,
  }
}
