import type { Answer, Client } from '../../client/client.ts'
import { cursorIn } from '../../client/paging.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'

/** The page size limit of our service. */
const mostPerPage = 1_000
/** Number of rows that a list by time shows by default. */
export const newestRows = 100

const takes = (operation: Operation, name: string): boolean =>
  fieldsOf(operation).some((field) => field.name === name)

export const isPaged = (operation: Operation): boolean => takes(operation, 'cursor')

export type Listed = {
  envelope: Answer['envelope']
  /** There are more rows, which were not asked for. They start at `cursor`, if the service returned a cursor that can be typed. */
  more?: { cursor?: string | undefined } | undefined
  /** Another page follows. */
  hasNext?: boolean
}

type Listing = {
  input: Record<string, unknown>
  /** As typed. */
  options: { all?: boolean; since?: string; until?: string }
  signal: AbortSignal
}

const rowLimit = (operation: Operation, { input, options }: Listing): number => {
  const { all = false } = options
  const limit = input['limit'] as number | undefined
  if (limit !== undefined && limit < 1)
    throw usageError(`--limit must be a whole number of 1 or more, not "${limit}"`, '--limit 50')
  if (limit !== undefined && all)
    throw usageError('--all cannot be combined with --limit', 'Remove one of them')
  const [since, until] = [input['since'], input['until']]
  if (since !== undefined && until !== undefined && String(since) >= String(until))
    throw usageError(`--since ${options.since} is not before --until ${options.until}`)
  return limit ?? (takes(operation, 'since') && !all ? newestRows : Infinity)
}

/**
 * The pages of a list, up to --limit rows in total, whatever the page size. Without a limit: every row, but only the newest
 * of a list by time.
 */
export async function* listPages(
  operation: Operation,
  client: Client,
  listing: Listing,
): AsyncGenerator<Listed, void> {
  const { input, signal } = listing
  let left = rowLimit(operation, listing)
  let size = left === Infinity ? undefined : Math.min(mostPerPage, left)
  let { cursor } = input
  for (;;) {
    let next: string | undefined
    let last: Answer['envelope'] | undefined
    for await (const page of client.pages(operation, { ...input, cursor, limit: size }, { signal })) {
      const { envelope, links } = page
      const { data } = envelope
      if (!Array.isArray(data)) return yield { envelope }
      next = links?.next
      last = { ...envelope, data: [] }
      const isCut = data.length > left
      const rows: unknown[] = isCut ? data.slice(0, left) : data
      left -= rows.length
      const isEnd = left === 0
      yield {
        envelope: { ...envelope, data: rows },
        ...(isEnd &&
          (isCut || next !== undefined) && { more: { cursor: isCut ? undefined : cursorIn(next) } }),
        hasNext: !isEnd && next !== undefined,
      }
      if (isEnd) return
      // The rest needs a smaller page.
      if (size !== undefined && left < size && cursorIn(next) !== undefined) break
    }
    cursor = cursorIn(next)
    if (size === undefined || left >= size || cursor === undefined) {
      // The service named a next page that is not one.
      if (next !== undefined) yield { envelope: last!, more: { cursor: cursorIn(next) } }
      return
    }
    size = left
  }
}

export const rowsOf = ({ envelope: { data } }: Listed): readonly unknown[] =>
  Array.isArray(data) ? data : []

/** All pages in one; `first` was read before. */
export const joined = async (pages: AsyncGenerator<Listed, void>, first?: Listed): Promise<Listed> => {
  const start = first ?? (await pages.next()).value!
  if (!Array.isArray(start.envelope.data)) return start
  let last = start
  const rows: unknown[] = [...rowsOf(start)]
  for await (const page of pages) {
    last = page
    for (const row of rowsOf(page)) rows.push(row)
  }
  return {
    envelope: { ...start.envelope, data: rows },
    more: last.more,
  }
}
