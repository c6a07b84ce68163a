import { table } from '../../contract/table.ts'
import { conflict, invalidFields, Refusal } from '../../core/refusal.ts'
import { digestOf } from '../../receipt/subject.ts'
import { commandsOf } from '../../rules/commands.ts'
import type { Call, Outside, Requirement } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import type { RowInput } from '../call/row-ids.ts'
import { runRead } from '../call/run.ts'
import { ownSlug, reachOrganization } from '../call/tenant.ts'
import { createTurns } from '../limits/turns.ts'
import { requireScope } from '../keys/scopes.ts'
import { type BatchRow, readBatchRow, rowSubject } from './batch-row.ts'
import { findRequirement } from './holding.ts'
import type { RequestSubject } from './write-subject.ts'

// Reads the rows of a list before its transaction, a few at a time, because thousands of them would keep everybody else waiting.
// A row that changes in between does no harm: its use compares it with the store again.

type Place = { at: number; row: BatchRow }
export type Asked = Place & { subject: RequestSubject; digest: string }

/** The most mistakes that one answer lists. */
export const mostIssues = 20

/** Rows that are read together: a few milliseconds. */
const atOnce = 20

/** One part of one list at a time, those of each organization in turn. */
const turns = createTurns(1)

type InTurn = <R>(work: (call: Call) => Promise<R>) => Promise<R>

const inTurnOf =
  ({ service, caller }: Outside): InTurn =>
  <R>(work: (call: Call) => Promise<R>) =>
    turns(caller.orgId, () =>
      runRead(
        service,
        { action: 'createBatch', caller, requestId: '', fieldNames: [] },
        (_: object, call) => work(call),
        {},
      ),
    ) as Promise<R>

/** Does something with each row, and names the row in a Refusal. */
const eachRow = async <T, R>(
  inTurn: InTurn,
  rows: readonly T[],
  work: (row: T, call: Call) => R | Promise<R>,
): Promise<R[]> => {
  const done: R[] = []
  const issues: { field: string; message: string }[] = []
  for (let from = 0; from < rows.length && issues.length < mostIssues; from += atOnce)
    await inTurn(async (call) => {
      for (const [i, row] of rows.slice(from, from + atOnce).entries())
        try {
          const one = work(row, call)
          done.push(one instanceof Promise ? await one : one)
        } catch (error) {
          if (!(error instanceof Refusal) || error.status === 403) throw error
          const field = `rows[${(row as { at?: number }).at ?? from + i}]`
          const own = error.issues?.map((issue) => ({ ...issue, field: `${field}.${issue.field}` }))
          issues.push(...(own ?? [{ field, message: error.message }]))
          if (issues.length >= mostIssues) break
        }
    })
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
const withoutExisting = async (inTurn: InTurn, orgId: number, rows: readonly Place[]) => {
  const numbers = await eachRow(inTurn, rows, ({ row }) => newNumber(row))
  const wanted = numbers.filter((number) => number !== undefined)
  const known = wanted.length === 0 ? new Set() : await inTurn((call) => readExisting(call, orgId, wanted))
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

const refuseTwice = (rows: readonly (readonly [at: number, text: string])[]): void => {
  const seen = new Map<string, number>()
  for (const [at, text] of rows) {
    const first = seen.get(text)
    if (first !== undefined)
      throw invalidFields([{ field: `rows[${at}]`, message: `is the same as rows[${first}]` }])
    seen.set(text, at)
  }
}

/** The rows that need an approval, with what people agree to, and the places of users who already exist. */
export const readRows = async (
  { org_id, rows: sent, skip_existing = false }: RowInput<'createBatch'>,
  outside: Outside,
) => {
  for (const id of new Set(sent.map(({ operation }) => operation))) requireScope(table[id], outside.caller)
  const inTurn = inTurnOf(outside)
  await inTurn((call) => reachOrganization(call, org_id))
  const read = await eachRow(inTurn, sent, (row) => readBatchRow(row, org_id))
  const places = read.map((row, at) => ({ at, row }))
  const { held, requirements } = await inTurn((call) => heldRows(call, org_id, places))
  const { fresh, existing } = await withoutExisting(inTurn, org_id, held)
  if (existing.length > 0 && !skip_existing) throw existError(existing)
  if (fresh.length === 0)
    throw conflict('no_rule_holds', 'No approval is required for these changes', 'Send each of them', {
      existing,
    })
  // Before anything is read for them. Equal rows that were written differently are found below.
  refuseTwice(fresh.map(({ at }) => [at, JSON.stringify(sent[at])]))
  const slug = await inTurn((call) => ownSlug(call, org_id))
  const rows = await eachRow(inTurn, fresh, async (place, call): Promise<Asked> => {
    const subject = await rowSubject(call, place.row, { orgId: org_id, slug })
    return { ...place, subject, digest: digestOf(subject.data) }
  })
  refuseTwice(rows.map(({ at, digest }) => [at, digest]))
  return { rows, requirements, existing, slug }
}
