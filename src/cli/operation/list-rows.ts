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

/** Whether a list has pages. */
export const isPaged = (operation: Operation): boolean => takes(operation, 'cursor')

/** Whether a list is ordered by time, newest first, and can be followed. */
export const isByTime = (operation: Operation): boolean => takes(operation, 'since')

export type Listed = {
  envelope: Answer['envelope']
  /** There are more rows. They start at `cursor`, if the service returned a cursor that can be typed. */
  more?: { cursor?: string | undefined } | undefined
  /** The cursor for rows that are newer than these. */
  newer?: string | undefined
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
  return limit ?? (isByTime(operation) && !all ? newestRows : Infinity)
}

/**
 * The rows of a list, up to --limit in total, whatever the page size. Without a limit: every row, but only the newest of
 * a list by time.
 */
export const listRows = async (operation: Operation, client: Client, listing: Listing): Promise<Listed> => {
  const { input, signal } = listing
  const most = rowLimit(operation, listing)
  const paged = most !== Infinity || isByTime(operation)
  const rows: unknown[] = []
  let first: Answer | undefined
  let next: string | undefined

  /** Reads pages of one size. Returns whether the rest needs a smaller page. */
  const take = async (size: number, cursor: unknown): Promise<boolean> => {
    const query = { ...input, cursor, limit: paged ? size : undefined }
    for await (const page of client.pages(operation, query, { signal })) {
      first ??= page
      const { data } = page.envelope
      for (const row of Array.isArray(data) ? data : []) rows.push(row)
      next = page.links?.next
      if (rows.length >= most) return false
      if (most - rows.length < size && cursorIn(next) !== undefined) return true
    }
    return false
  }

  let hasRest = await take(Math.min(mostPerPage, most), input['cursor'])
  while (hasRest) hasRest = await take(most - rows.length, cursorIn(next))

  const { envelope, links } = first!
  if (!Array.isArray(envelope.data)) return { envelope }
  const isCut = rows.length > most
  return {
    envelope: { ...envelope, data: isCut ? rows.slice(0, most) : rows },
    ...((isCut || next !== undefined) && { more: { cursor: isCut ? undefined : cursorIn(next) } }),
    newer: cursorIn(links?.prev),
  }
}
