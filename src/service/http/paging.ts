import { Refusal } from '../../core/refusal.ts'
import type { Page, PlaceInTime } from '../call/call.ts'

/** Where the rows of a page begin. */
export type PagePosition = Omit<Page, 'limit'>

const encode = ({ after, before }: PagePosition): string =>
  Buffer.from(before ? `before:${before.key}:${Date.parse(before.at)}` : `after:${after}`).toString(
    'base64url',
  )

const mostMs = 8_640_000_000_000_000

/** The place that a cursor names: of a list by id, or of older rows in a list by time. */
export const readCursor = (cursor: string | undefined, byTime: boolean): PagePosition => {
  if (cursor === undefined) return { after: 0 }
  const shape = byTime ? /^before:(\d{1,16}):(\d{1,16})$/ : /^after:(\d{1,16})$/
  const [, key, ms = '0'] = shape.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (key === undefined || Number(ms) > mostMs)
    throw new Refusal(422, 'invalid_field', 'cursor is not a cursor of this list', {
      issues: [{ field: 'cursor', message: 'is not a cursor of this list' }],
      hint: 'Use the cursor in the Link header of the previous page',
    })
  if (!byTime) return { after: Number(key) }
  return { after: 0, before: { key: Number(key), at: new Date(Number(ms)).toISOString() } }
}

/** The rows of a list from one place, at most `limit`, and the place of the next ones once the rows are known. */
export const createPager = (place: PagePosition, limit: number) => {
  const found: { next?: PagePosition } = {}
  return {
    page: { ...place, limit },
    paged: <Row>(rows: Row[], key: (row: Row) => number, end?: number): Row[] => {
      const kept = rows.slice(0, limit)
      if (rows.length > limit) found.next = { after: key(kept.at(-1)!) }
      else if (end !== undefined) found.next = { after: end }
      return kept
    },
    pagedByTime: <Row>(rows: Row[], placeOf: (row: Row) => PlaceInTime, end?: PlaceInTime): Row[] => {
      const kept = rows.slice(0, limit)
      const before = rows.length > limit ? placeOf(kept.at(-1)!) : end
      if (before) found.next = { after: 0, before }
      return kept
    },
    found,
  }
}
export type Pager = ReturnType<typeof createPager>

/** The `Link` header for the rows after those of an answer. */
export const linkHeader = (
  next: PagePosition | undefined,
  { url, origin }: { url: string; origin: string },
): Record<string, string> => {
  if (!next) return {}
  const { pathname, searchParams } = new URL(url)
  searchParams.set('cursor', encode(next))
  return { link: `<${origin}${pathname}?${searchParams}>; rel="next"` }
}
