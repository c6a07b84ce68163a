import { createPager, type Pager, type PagePosition } from './paging.ts'

// A list can have any number of rows. It is read in parts, each with a query of its own, and no more than one part is in
// memory unless the client asked for a page.

/** Rows of the first part. Later parts have as many rows as fit into `partBytes`. */
const firstRows = 100
const partRows = { least: 10, most: 500 }
const partBytes = 64 * 1024

/** A page that is this long ends, with fewer rows than `limit`. It is the largest answer that is built whole. */
const pageBytes = 4 * 1024 * 1024
/** The most parts of a page. A filter that few rows pass makes parts small, or empty. */
const pageParts = 25

/** The most rows of a page that a client can ask for. */
const mostRows = 1_000

/** Reads the rows of a page. */
export type Reading = (pager: Pager) => Promise<unknown[]>

/** Some rows as JSON, without the brackets. `fitting` is the number of rows of the next part. */
type Part = Pager['found'] & { text: string; rows: number; fitting: number }

const readPart = async (read: Reading, place: PagePosition, rows: number): Promise<Part> => {
  const pager = createPager(place, rows)
  const found = await read(pager)
  const text = found.map((row) => JSON.stringify(row)).join(',')
  const fitting = found.length === 0 ? rows : Math.floor((partBytes * found.length) / text.length)
  return {
    text,
    rows: found.length,
    fitting: Math.min(Math.max(fitting, partRows.least), partRows.most),
    ...pager.found,
  }
}

/** One page as JSON without the brackets, and where the rows after it are. */
const readPage = async (reading: Reading, start: PagePosition, limit: number) => {
  const texts: string[] = []
  let [left, bytes] = [limit, 0]
  let part = await readPart(reading, start, Math.min(firstRows, limit))
  for (let parts = 1; ; parts += 1) {
    if (part.rows > 0) texts.push(part.text)
    left -= part.rows
    bytes += part.text.length
    if (!part.next || left <= 0 || bytes >= pageBytes || parts === pageParts) break
    part = await readPart(reading, part.next, Math.min(part.fitting, left))
  }
  return { text: texts.join(','), next: part.next }
}

/** Reads a part after the client has read the one before. `ended` is called once, however it ends. */
const streamParts = (
  reading: Reading,
  first: Part,
  [head, tail]: [string, string],
  { ended, broken }: Ending,
) => {
  let part = first
  let isEmpty = first.rows === 0
  const over = new AbortController()
  const bytes = new TextEncoder()
  const end = (): void => {
    if (!over.signal.aborted) ended()
    over.abort()
  }
  const readOn = async (out: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    while (part.next && !over.signal.aborted) {
      part = await readPart(reading, part.next, part.fitting)
      if (part.rows === 0 || over.signal.aborted) continue
      out.enqueue(bytes.encode(isEmpty ? part.text : `,${part.text}`))
      isEmpty = false
      return
    }
    if (over.signal.aborted) return
    out.enqueue(bytes.encode(tail))
    out.close()
    end()
  }
  return new ReadableStream<Uint8Array>(
    {
      start: (out) => out.enqueue(bytes.encode(head + first.text)),
      pull: (out) =>
        readOn(out).catch((error: unknown) => {
          broken(error)
          end()
          throw error
        }),
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

/** The rows that a page may have: `Prefer: maxpagesize=100`. A service that does not know it sends the whole list. */
export const preferredRows = (header: string | undefined): number | undefined => {
  const rows = Number(/(?:^|[,;\s])maxpagesize=(\d{1,9})(?![^,;\s])/i.exec(header ?? '')?.[1])
  return rows >= 1 ? Math.min(rows, mostRows) : undefined
}

type Ending = {
  /** No more of the list is read. */
  ended: () => void
  /** It could not be read to its end, after its first part was sent. */
  broken: (error: unknown) => void
}
type Wanted = Ending & { start: PagePosition; limit: number | undefined; message: string }
type List =
  | { body: string; isWhole: boolean; next?: PagePosition | undefined }
  | { body: ReadableStream<Uint8Array>; isWhole: false; next?: undefined }

/**
 * The answer with a list: without a limit, the whole list, sent in parts if it is long; `ended` is called when no more is read.
 * `isWhole`: it is a text that has all rows from its start.
 */
export const readList = async (
  reading: Reading,
  { start, limit, message, ...ending }: Wanted,
): Promise<List> => {
  const [head, tail] = [`{"status":"success","message":${JSON.stringify(message)},"data":[`, ']}']
  if (limit !== undefined) {
    const { text, next } = await readPage(reading, start, limit)
    return { body: head + text + tail, next, isWhole: !next }
  }
  const first = await readPart(reading, start, firstRows)
  if (!first.next) return { body: head + first.text + tail, isWhole: true }
  return { body: streamParts(reading, first, [head, tail], ending), isWhole: false }
}
