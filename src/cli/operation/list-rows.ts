import type { Answer, Client } from '../../client/client.ts'
import { cursorIn } from '../../client/paging.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Operation } from '../../contract/operation.ts'
import { usageError } from '../../core/errors.ts'

/** As many rows as our service puts on a page. */
const mostPerPage = 1_000
/** What a list that grows for ever shows of its newest rows. */
export const newestRows = 100

const takes = (operation: Operation, name: string): boolean =>
  fieldsOf(operation).some((field) => field.name === name)

/** A list that comes in pages. */
export const isPaged = (operation: Operation): boolean => takes(operation, 'cursor')

/** A list by time, newest first: it can be followed. */
export const isByTime = (operation: Operation): boolean => takes(operation, 'since')

export type Listed = {
  envelope: Answer['envelope']
  /** There are further rows; `cursor` is where they start, if the service says so in a way that can be typed. */
  more?: { cursor?: string | undefined } | undefined
  /** Where what is new from now on can be asked for. */
  newer?: string | undefined
}

type Wanted = {
  input: Record<string, unknown>
  /** As typed. */
  options: { all?: boolean; since?: string; until?: string }
  signal: AbortSignal
}

const wantedRows = (operation: Operation, { input, options }: Wanted): number => {
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
 * The rows of a list, so many in all, whatever the size of a page is. Without a limit it is every row, but of a list by
 * time the newest.
 */
export const listRows = async (operation: Operation, client: Client, wanted: Wanted): Promise<Listed> => {
  const { input, signal } = wanted
  const most = wantedRows(operation, wanted)
  const paged = most !== Infinity || isByTime(operation)
  const rows: unknown[] = []
  let first: Answer | undefined
  let next: string | undefined

  /** Pages of one size; answers whether fewer rows than such a page are still wanted. */
  const take = async (size: number, cursor: unknown): Promise<boolean> => {
    const asked = { ...input, cursor, limit: paged ? size : undefined }
    for await (const page of client.pages(operation, asked, { signal })) {
      first ??= page
      const { data } = page.envelope
      for (const row of Array.isArray(data) ? data : []) rows.push(row)
      next = page.links?.next
      if (rows.length >= most) return false
      if (most - rows.length < size && cursorIn(next) !== undefined) return true
    }
    return false
  }

  let goOn = await take(Math.min(mostPerPage, most), input['cursor'])
  while (goOn) goOn = await take(most - rows.length, cursorIn(next))

  const { envelope, links } = first!
  if (!Array.isArray(envelope.data)) return { envelope }
  const isCut = rows.length > most
  return {
    envelope: { ...envelope, data: isCut ? rows.slice(0, most) : rows },
    ...((isCut || next !== undefined) && { more: { cursor: isCut ? undefined : cursorIn(next) } }),
    newer: cursorIn(links?.prev),
  }
}
