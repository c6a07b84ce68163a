import { invalidFields } from '../../core/refusal.ts'
import { digestOf } from '../../receipt/subject.ts'
import type { Call, HandlerOf, Requirement } from '../call/call.ts'
import type { RowData } from '../call/row-ids.ts'
import { type Asked, mostIssues, readRows } from './batch-reading.ts'
import { insertBatchRows, unusedRows } from './batch-rows.ts'
import { batchSubject } from './batch-subject.ts'
import { toApprovalRecord } from './record.ts'
import { requestApproval } from './request.ts'
import { openRequests, together } from './required-approval.ts'

/**
 * Nobody answers for the end of their own membership. In a list, that would decide who answers for the other rows, so it is
 * asked alone.
 */
const requirementOf = async (
  { db }: Call,
  rows: readonly Asked[],
  requirements: readonly Requirement[],
): Promise<Requirement> => {
  const all = together(requirements)
  const ids = all.lines.flatMap(({ members }) => members)
  const asked = await db
    .selectFrom('people')
    .where('id', 'in', [...ids, 0])
    .select(['id', 'mobile'])
    .execute()
  const own = new Map(asked.map(({ id, mobile }) => [mobile, id]))
  const leaverOf = ({ row: { id, input, mobile } }: Asked): number | undefined =>
    id === 'removeUser' || id === 'holdUser' ? (own.get(mobile ?? '') ?? Number(input['user_id'])) : undefined
  const leaving = rows.filter((row) => ids.includes(leaverOf(row) ?? 0))
  if (leaving.length > 0 && rows.length > 1)
    throw invalidFields(
      leaving.slice(0, mostIssues).map(({ at }) => ({
        field: `rows[${at}]`,
        message: 'removes or holds somebody who must approve the list: send this change without the others',
      })),
    )
  const left = new Set(leaving.map(leaverOf))
  const lines = all.lines.map((line) => ({ ...line, members: line.members.filter((id) => !left.has(id)) }))
  return { ...all, lines }
}

/** An open request of this key that contains every row, unused: an interrupted run goes on under it. */
const findOpen = async (call: Call, requirement: Requirement, rows: readonly Asked[]) => {
  for (const request of await openRequests(call, requirement)) {
    const unused = await unusedRows(call, request)
    const indexes = rows.map(({ digest }) => unused.get(digest))
    if (indexes.every((index) => index !== undefined)) return { request, indexes }
  }
  return undefined
}

/**
 * Requests one approval for the rows that rules hold. The service computes what people sign: nothing that the caller says of
 * the list counts. 409 `no_rule_holds` if nobody has to be asked, and `batch_conflict` if users of the list already exist.
 */
export const createBatch: HandlerOf<'createBatch'> = {
  before: async (input, outside) => {
    const { org_id, reason } = input
    const { rows, requirements, existing, slug } = await readRows(input, outside)
    const answer = (
      record: Pick<RowData<'createBatch'>, 'request_id' | 'status' | 'expires_at' | 'lines'>,
      indexes: readonly (number | undefined)[],
    ): RowData<'createBatch'> => {
      const row_indexes: (number | null)[] = input.rows.map(() => null)
      for (const [i, { at }] of rows.entries()) row_indexes[at] = indexes[i]!
      const { request_id, status, expires_at, lines } = record
      return { request_id, status, expires_at, lines, row_indexes, existing }
    }
    return async (call) => {
      const requirement = await requirementOf(call, rows, requirements)
      const open = await findOpen(call, requirement, rows)
      if (open) {
        await call.audit(org_id, `batch:${open.request.request_id}`, ['resumed'])
        return answer(toApprovalRecord(open.request, call), open.indexes)
      }
      // A single change is shown as it is.
      const [only] = rows
      const subject = rows.length === 1 ? only!.subject : batchSubject(rows, { orgId: org_id, slug })
      const record = await requestApproval(
        { subject: { ...subject, digest: digestOf(subject.data) }, reason, org_id },
        call,
        { held: requirement },
      )
      await insertBatchRows(call, record, rows)
      return answer(record, [...rows.keys()])
    }
  },
}
