import { digestOf } from '../../receipt/subject.ts'
import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import type { Selectable } from 'kysely'
import { sha256 } from '../../core/ids.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { countRows, readPage } from '../call/pagination.ts'
import type { Tables } from '../storage/schema.ts'
import { requestNotAuthentic } from './authentic.ts'
import { rowsOf } from './batch-rows.ts'
import { approvalAccess, findApproval, storedSubject } from './record.ts'
import type { ApprovalRow } from './rows.ts'
import type { RequestSubject } from './write-subject.ts'

type Row = Selectable<Tables['batch_rows']>

/**
 * Throws 403 for a row that another program has changed: its digest has the MAC, and what is shown has the digest, so that nobody
 * reads one thing and signs another.
 */
const rowSubjectOf = ({ keyring }: Pick<Call, 'keyring'>, row: Row): RequestSubject => {
  if (!keyring.holds('batch_rows', row) || sha256(row.data) !== row.digest)
    throw requestNotAuthentic('decided')
  return { type: 'request', data: JSON.parse(row.data) as RequestSubject['data'] }
}

/** Throws 403 unless a list is the one whose digest people sign: with a row hidden, they would sign what nobody sees. */
const requireWhole = async ({ db }: Pick<Call, 'db'>, request: ApprovalRow): Promise<void> => {
  const subject = storedSubject(request)
  const signed = subject?.type === 'request' ? subject.data.file?.sha256 : undefined
  // A single change is shown as it is, and the rows of a request end with it.
  if (request.status !== 'pending' || signed === undefined) return
  const rows = await rowsOf(db, request).select('digest').orderBy('row_index').execute()
  if (digestOf(rows.map(({ digest }) => digest)) !== signed) throw requestNotAuthentic('decided')
}

export const listBatchRows: HandlerOf<'listBatchRows'> = async ({ request_id }, call) => {
  const request = await findApproval(call.db, request_id, approvalAccess(call.caller))
  await requireWhole(call, request)
  const rows = await readPage(call, rowsOf(call.db, request).selectAll(), 'id')
  return rows.map((row) => {
    const { row_index, digest, used_at } = row
    const subject = rowSubjectOf(call, row)
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
  await requireWhole(call, request)
  const after = rowsOf(call.db, request).selectAll().where('row_index', '>=', from)
  const rows = await after.orderBy('row_index').limit(shownAtOnce).execute()
  const count = await countRows(after)
  return {
    rows: rows.map((row) => {
      const subject = rowSubjectOf(call, row)
      return { data: subject.data, summary: summaryOf(subject), fields: fieldsOf(subject) }
    }),
    left: count - rows.length,
  }
}
