import { table } from '../../contract/table.ts'
import { invalidFields } from '../../core/refusal.ts'
import { addMs } from '../../core/iso-time.ts'
import { digestOf } from '../../receipt/subject.ts'
import type { Call, HandlerOf, Requirement } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import type { RowData } from '../call/row-ids.ts'
import { readMobiles } from '../call/tenant.ts'
import { type Asked, mostIssues, readRows } from './batch-reading.ts'
import { insertBatchRows, unusedRows } from './batch-rows.ts'
import { newUserText } from './people-text.ts'
import { toApprovalRecord } from './record.ts'
import { requestApproval } from './request.ts'
import { openRequests, together } from './required-approval.ts'
import type { RequestSubject } from './write-subject.ts'

/**
 * Nobody answers for the end of their own membership. In a list, that would decide who answers for the other rows, so it is
 * asked alone.
 */
const requirementOf = async (
  call: Call,
  rows: readonly Asked[],
  requirements: readonly Requirement[],
): Promise<Requirement> => {
  const all = together(requirements)
  const ids = all.lines.flatMap(({ members }) => members)
  const own = new Map([...(await readMobiles(call, [...ids, 0]))].map(([id, mobile]) => [mobile, id]))
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

/** A user who gets another role than that of a member, or another than before. */
const roleIn = ({ data: { operation, body, before } }: RequestSubject): string | undefined => {
  const { role } = body
  const then = operation === 'updateUser' ? before?.['role'] : 'member'
  return role === undefined || role === then
    ? undefined
    : `${String(body['user'] ?? newUserText(body))}: ${String(role)}`
}

/** What people sign for many rows: how many of each operation, each deletion and change of a role, and the digest of the list. */
const batchSubject = (
  rows: readonly Asked[],
  { orgId, slug }: { orgId: number; slug: string },
): RequestSubject => {
  const deletions: string[] = []
  const roles: string[] = []
  const counts: Record<string, number> = {}
  for (const { row, subject } of rows) {
    const { cli } = table[row.id]
    counts[cli] = (counts[cli] ?? 0) + 1
    const role = roleIn(subject)
    deletions.push(...(subject.data.deletions ?? []).map((name) => `${cli}: ${name}`))
    if (role !== undefined) roles.push(role)
  }
  return {
    type: 'request',
    data: {
      organization: { id: String(orgId), slug },
      operation: 'batch',
      body: roles.length > 0 ? { roles } : {},
      // In canonical JSON, capital letters come first.
      counts: {
        ...(deletions.length > 0 && { Deletions: deletions.length }),
        ...(roles.length > 0 && { 'Role changes': roles.length }),
        ...counts,
      },
      ...(deletions.length > 0 && { deletions }),
      // Of the digests of all rows, in order: anybody who has the rows can compute it.
      file: { name: `list of ${rows.length} changes`, sha256: digestOf(rows.map(({ digest }) => digest)) },
    },
  }
}

/** An open request of this key that contains every row, unused: an interrupted run goes on under it. */
const findOpen = async (call: Call, requirement: Requirement, rows: readonly Asked[]) => {
  for (const request of await openRequests(call, requirement)) {
    const unused = await unusedRows(call.db, request)
    const indexes = rows.map(({ digest }) => unused.get(digest))
    if (indexes.every((index) => index !== undefined)) return { request, indexes }
  }
  return undefined
}

/** Why the newest approval of the last day that contains one of these rows does not do; undefined if there is none. */
const whyAgain = async (call: Call, org_id: number, rows: readonly Asked[]): Promise<string | undefined> => {
  const some = rows.slice(0, 100).map(({ digest }) => digest)
  const before = await call.db
    .selectFrom('approvals as a')
    .where('a.org_id', '=', org_id)
    .where('a.by_rule', '=', 1)
    .where('a.status', '=', 'approved')
    .where('a.used_at', 'is', null)
    .where('a.requested_at', '>', addMs(call.now, -24 * 3600_000))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('batch_rows as r')
          .whereRef('r.request_id', '=', 'a.request_id')
          .where('r.org_id', '=', org_id)
          .where('r.digest', 'in', some)
          .select('r.id'),
      ),
    )
    .select(['a.request_id', 'a.org_id', 'a.asked_by', 'a.use_by'])
    .orderBy('a.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  if (!before) return undefined
  const { request_id, use_by, asked_by } = before
  if (asked_by !== namedKeyOf(call.caller))
    return 'another key asked before, and only that key can use its approval'
  if (use_by !== null && use_by <= call.now) return `${request_id} had to be used until ${use_by}`
  const unused = await unusedRows(call.db, before)
  return rows.every(({ digest }) => unused.has(digest))
    ? `the rules are not those of ${request_id}`
    : `the list is not the one of ${request_id}`
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
      asks_again?: string,
    ): RowData<'createBatch'> => {
      const row_indexes: (number | null)[] = input.rows.map(() => null)
      for (const [i, { at }] of rows.entries()) row_indexes[at] = indexes[i]!
      const { request_id, status, expires_at, lines } = record
      return { request_id, status, expires_at, lines, row_indexes, existing, asks_again }
    }
    return async (call) => {
      const requirement = await requirementOf(call, rows, requirements)
      const open = await findOpen(call, requirement, rows)
      if (open) {
        await call.audit(org_id, `batch:${open.request.request_id}`, ['resumed'])
        return answer(toApprovalRecord(open.request, call), open.indexes)
      }
      const again = await whyAgain(call, org_id, rows)
      // A single change is shown as it is.
      const [only] = rows
      const subject = rows.length === 1 ? only!.subject : batchSubject(rows, { orgId: org_id, slug })
      const record = await requestApproval(
        { subject: { ...subject, digest: digestOf(subject.data) }, reason, org_id },
        call,
        { held: requirement },
      )
      await insertBatchRows(call, record, rows)
      return answer(record, [...rows.keys()], again)
    }
  },
}
