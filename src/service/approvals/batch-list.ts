import { digestOf } from '../../receipt/subject.ts'
import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import type { Selectable } from 'kysely'
import { sha256 } from '../../core/ids.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { readPage } from '../call/pagination.ts'
import type { Tables } from '../storage/schema.ts'
import { requestNotAuthentic } from './authentic.ts'
import { rowsOf } from './batch-rows.ts'
import { isGenuine } from './genuine.ts'
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

/**
 * The digests of a list that people still read, in order; undefined for any other request. Throws 403 unless they are those that
 * people sign: with a row hidden, they would sign what nobody sees.
 */
const signedDigests = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  request: ApprovalRow,
): Promise<string[] | undefined> => {
  const rows = await rowsOf(db, request).select('digest').orderBy('row_index').execute()
  // The rows of a request end with it.
  if (rows.length === 0 && request.status !== 'pending') return undefined
  if (!isGenuine(request, { keyring })) throw requestNotAuthentic('decided')
  const subject = storedSubject(request)
  const signed = subject?.type === 'request' ? subject.data.file?.sha256 : undefined
  // A single change is shown as it is.
  if (signed === undefined) return undefined
  const digests = rows.map(({ digest }) => digest)
  if (digestOf(digests) !== signed) throw requestNotAuthentic('decided')
  return digests
}

/** Throws 403 unless the rows are these of the list, one after the other: each was read by itself. */
const requireRows = (rows: readonly Row[], digests: readonly string[], from: number): void => {
  const isWhole = rows.every(
    ({ row_index, digest }, at) => row_index === from + at && digest === digests[row_index],
  )
  if (!isWhole) throw requestNotAuthentic('decided')
}

export const listBatchRows: HandlerOf<'listBatchRows'> = async ({ request_id }, call) => {
  const request = await findApproval(call.db, request_id, approvalAccess(call.caller))
  const digests = await signedDigests(call, request)
  const rows = await readPage(call, rowsOf(call.db, request).selectAll(), 'id')
  if (digests) {
    const from = call.page.after === 0 ? 0 : (rows[0]?.row_index ?? digests.length)
    requireRows(rows, digests, from)
    if (rows.length < call.page.limit && from + rows.length !== digests.length)
      throw requestNotAuthentic('decided')
  }
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
  const digests = await signedDigests(call, request)
  const after = rowsOf(call.db, request).selectAll().where('row_index', '>=', from)
  const rows = await after.orderBy('row_index').limit(shownAtOnce).execute()
  if (digests) requireRows(rows, digests, from)
  const left = Math.max(0, (digests?.length ?? 0) - from - rows.length)
  if (rows.length < shownAtOnce && left > 0) throw requestNotAuthentic('decided')
  return {
    rows: rows.map((row) => {
      const subject = rowSubjectOf(call, row)
      return { data: subject.data, summary: summaryOf(subject), fields: fieldsOf(subject) }
    }),
    left,
  }
}
