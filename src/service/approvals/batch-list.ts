import { fieldsOf, summaryOf } from '../../receipt/subject-text.ts'
import type { HandlerOf } from '../call/call.ts'
import { readPage } from '../call/pagination.ts'
import type { Db } from '../storage/schema.ts'
import { approvalAccess, findApproval } from './record.ts'
import type { ApprovalRow } from './rows.ts'
import type { RequestSubject } from './write-subject.ts'

const rowsOf = (db: Db, { request_id, org_id }: Pick<ApprovalRow, 'request_id' | 'org_id'>) =>
  db
    .selectFrom('batch_rows')
    .where('request_id', '=', request_id)
    .where('org_id', '=', org_id)
    .select(['id', 'row_index', 'data', 'digest', 'used_at'])

const subjectOf = ({ data }: { data: string }): RequestSubject => ({
  type: 'request',
  data: JSON.parse(data) as RequestSubject['data'],
})

export const listBatchRows: HandlerOf<'listBatchRows'> = async ({ request_id }, call) => {
  const request = await findApproval(call.db, request_id, approvalAccess(call.caller))
  const rows = await readPage(call, rowsOf(call.db, request), 'id')
  return rows.map((row) => {
    const { row_index, digest, used_at } = row
    const subject = subjectOf(row)
    return { row_index, summary: summaryOf(subject), data: subject.data, digest, used_at }
  })
}

/** As many as a phone shows at once. */
const shownAtOnce = 20

/** Some rows of a request as the person who is asked reads them, and how many follow. */
export const readRowTexts = async (db: Db, request: ApprovalRow, from: number) => {
  const after = rowsOf(db, request).where('row_index', '>=', from)
  const rows = await after.orderBy('row_index').limit(shownAtOnce).execute()
  const { count } = await after
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return {
    rows: rows.map((row) => {
      const subject = subjectOf(row)
      return { summary: summaryOf(subject), fields: fieldsOf(subject) }
    }),
    left: Number(count) - rows.length,
  }
}
