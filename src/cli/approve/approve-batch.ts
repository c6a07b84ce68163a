import { fieldsIn } from '../../client/answer-data.ts'
import { batch } from '../../contract/batch.ts'
import { mostBatchRows } from '../../contract/batchable.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { ChangeRow, Context, Together, TogetherApproved } from '../context/context.ts'
import { awaitRequest } from './approve-first.ts'

const numbersIn = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'number') : []

/** An error of the service with the words of the command for its rows. */
const named = (error: SvcError, nameOf: Together['nameOf']): SvcError =>
  error.with({
    issues: error.issues?.map(({ field, message }) => ({
      field: field
        .replace(/^rows\[(\d{1,9})\]/, (_, place: string) => nameOf(Number(place)))
        .replace('.', ', '),
      message,
    })),
  })

/** What the service answers for at most as many rows as one approval covers. */
const requestFor = async (
  rows: readonly ChangeRow[],
  { org, skipExisting }: Together,
  context: Context,
): Promise<Record<string, unknown>> => {
  const client = await context.client()
  const input = {
    org_id: org,
    rows: [...rows],
    skip_existing: skipExisting,
    // Read for each attempt: if a rule requires a reason, somebody is asked for it in between.
    get reason() {
      return context.reason
    },
  }
  try {
    return fieldsIn(await client.call(batch.createBatch, input, { signal: context.io.signal }))
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    if (error.code === 'no_rule_holds') return { existing: error.data?.existing }
    // A service of the same contract without these routes has no rules either.
    if (error.exit === 'notFound' || error.code === 'http_405') return {}
    throw error
  }
}

/**
 * Requests one approval for those of these changes that rules of the organization hold, and waits for it. A run that was
 * interrupted goes on under the same approval. Throws without an approval; nothing was changed then.
 */
export const approveBatch = async (
  rows: readonly ChangeRow[],
  options: Together,
  context: Context,
): Promise<TogetherApproved> => {
  const found: TogetherApproved = { approvals: [], existing: new Set() }
  for (let at = 0; at < rows.length; at += mostBatchRows) {
    const some = rows.slice(at, at + mostBatchRows)
    const { request_id, row_indexes, existing, asks_again } = await requestFor(some, options, context).catch(
      (error: unknown) => {
        throw error instanceof SvcError ? named(error, (place) => options.nameOf(at + place)) : error
      },
    )
    for (const place of numbersIn(existing)) found.existing.add(at + place)
    const indexes: unknown[] = Array.isArray(row_indexes) ? row_indexes : []
    for (const i of some.keys())
      found.approvals.push(typeof indexes[i] === 'number' ? `${String(request_id)}:${indexes[i]}` : undefined)
    if (typeof asks_again === 'string') (await context.output()).warn(`Asking again: ${safeLine(asks_again)}`)
    if (typeof request_id === 'string') await awaitRequest(context, { request_id })
  }
  return found
}
