import { conflict, invalidFields, Refusal } from '../../core/refusal.ts'
import { digestOf } from '../../receipt/subject.ts'
import { commandsOf } from '../../rules/commands.ts'
import type { Call, HandlerOf, Requirement } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import type { RowData } from '../call/row-ids.ts'
import { organizationRow, reachOrganization } from '../call/tenant.ts'
import { type BatchRow, readBatchRow, rowSubject } from './batch-row.ts'
import { insertBatchRows, unusedRows } from './batch-rows.ts'
import { batchSubject } from './batch-subject.ts'
import { findRequirement } from './holding.ts'
import { toApprovalRecord } from './record.ts'
import { requestApproval } from './request.ts'
import { openRequests, together } from './required-approval.ts'
import type { RequestSubject } from './write-subject.ts'

type Place = { at: number; row: BatchRow }
type Asked = { at: number; row: BatchRow; subject: RequestSubject; digest: string }

/** The most mistakes that one answer lists. */
const mostIssues = 20

/** Does something with each row, and names the row in a Refusal. */
const eachRow = async <T, R>(
  rows: readonly T[],
  work: (row: T, i: number) => R | Promise<R>,
): Promise<R[]> => {
  const done: R[] = []
  const issues: { field: string; message: string }[] = []
  for (const [i, row] of rows.entries())
    try {
      const one = work(row, i)
      done.push(one instanceof Promise ? await one : one)
    } catch (error) {
      if (!(error instanceof Refusal) || error.status === 403) throw error
      const field = `rows[${(row as { at?: number }).at ?? i}]`
      const own = error.issues?.map((issue) => ({ ...issue, field: `${field}.${issue.field}` }))
      issues.push(...(own ?? [{ field, message: error.message }]))
      if (issues.length >= mostIssues) break
    }
  if (issues.length > 0) throw invalidFields(issues)
  return done
}

/** What rules hold each row requires; the rows that none holds need no approval. */
const heldRows = async (call: Call, orgId: number, rows: readonly Place[]) => {
  const known = new Map<string, Requirement | undefined>()
  const held: Place[] = []
  for (const place of rows) {
    const { id, input } = place.row
    // Nothing else of a row decides which rules hold it.
    const words = commandsOf(id, input).join()
    if (!known.has(words)) known.set(words, await findRequirement(call, orgId, place.row))
    if (known.get(words)) held.push(place)
  }
  return { held, requirements: [...known.values()].filter((one) => one !== undefined) }
}

/** The numbers among these of whoever is in the organization, or waits for it. */
const readExisting = async ({ db }: Call, orgId: number, numbers: string[]): Promise<Set<string>> => {
  const found = new Set<string>()
  for (let at = 0; at < numbers.length; at += 500) {
    const rows = await db
      .selectFrom('memberships as m')
      .innerJoin('people as p', 'p.id', 'm.user_id')
      .where('m.org_id', '=', orgId)
      .where('m.state', 'in', ['active', 'pending'])
      .where('p.mobile', 'in', numbers.slice(at, at + 500))
      .select('p.mobile')
      .execute()
    for (const { mobile } of rows) found.add(mobile)
  }
  return found
}

const newNumber = ({ id, input }: BatchRow): string | undefined =>
  id === 'createUser'
    ? parsePhone(String(input['mobile']), input['country_code'] as string | undefined).mobile
    : undefined

/** The rows whose users do not exist yet, and the places of the others. */
const withoutExisting = async (call: Call, orgId: number, rows: readonly Place[]) => {
  const numbers = await eachRow(rows, ({ row }) => newNumber(row))
  const wanted = numbers.filter((number) => number !== undefined)
  const known = wanted.length === 0 ? new Set() : await readExisting(call, orgId, wanted)
  const isNew = (_: Place, i: number): boolean => !known.has(numbers[i])
  return {
    fresh: rows.filter(isNew),
    existing: rows.filter((row, i) => !isNew(row, i)).map(({ at }) => at),
  }
}

const existError = (existing: readonly number[]): Refusal =>
  new Refusal(409, 'batch_conflict', `Users who already exist: ${existing.length}; nobody was asked`, {
    issues: existing.slice(0, mostIssues).map((at) => ({ field: `rows[${at}]`, message: 'already exists' })),
    hint: 'Leave them out: --on-conflict skip',
    data: { existing },
  })

const refuseTwice = (rows: readonly Asked[]): void => {
  const seen = new Map<string, number>()
  for (const { at, digest } of rows) {
    const first = seen.get(digest)
    if (first !== undefined)
      throw invalidFields([{ field: `rows[${at}]`, message: `is the same as rows[${first}]` }])
    seen.set(digest, at)
  }
}

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
  const leaving = rows.filter(
    ({ row: { id }, subject }) =>
      (id === 'removeUser' || id === 'holdUser') && own.has(String(subject.data.body['user'])),
  )
  if (leaving.length > 0 && rows.length > 1)
    throw invalidFields(
      leaving.slice(0, mostIssues).map(({ at }) => ({
        field: `rows[${at}]`,
        message: 'removes or holds somebody who must approve the list: send this change without the others',
      })),
    )
  const left = new Set(leaving.map(({ subject }) => own.get(String(subject.data.body['user']))))
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
export const createBatch: HandlerOf<'createBatch'> = async (
  { org_id, rows: sent, skip_existing = false, reason },
  call,
) => {
  await reachOrganization(call, org_id)
  const read = await eachRow(sent, (row) => readBatchRow(row, call, org_id))
  const places = read.map((row, at) => ({ at, row }))
  const { held, requirements } = await heldRows(call, org_id, places)
  const { fresh, existing } = await withoutExisting(call, org_id, held)
  if (existing.length > 0 && !skip_existing) throw existError(existing)
  if (fresh.length === 0)
    throw conflict('no_rule_holds', 'No approval is required for these changes', 'Send each of them', {
      existing,
    })
  const { slug } = await organizationRow(call.db, org_id)
  const rows = await eachRow(fresh, async (place): Promise<Asked> => {
    const subject = await rowSubject(call, place.row, { orgId: org_id, slug })
    return { ...place, subject, digest: digestOf(subject.data) }
  })
  refuseTwice(rows)
  const answer = (
    record: Pick<RowData<'createBatch'>, 'request_id' | 'status' | 'expires_at' | 'lines'>,
    indexes: readonly (number | undefined)[],
  ): RowData<'createBatch'> => {
    const row_indexes: (number | null)[] = sent.map(() => null)
    for (const [i, { at }] of rows.entries()) row_indexes[at] = indexes[i]!
    const { request_id, status, expires_at, lines } = record
    return { request_id, status, expires_at, lines, row_indexes, existing }
  }
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
