import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Page, PlaceInTime } from '../call/call.ts'

/** Where the rows of a page begin. */
export type PagePosition = Omit<Page, 'limit'>

/** A write takes time to commit: a row may appear twice, but none is missed. */
const overlapMs = -5_000

const encode = ({ after, before, newer }: PagePosition): string => {
  const numbers = newer
    ? ['newer', newer.key, Date.parse(newer.since), newer.after, Date.parse(newer.began ?? '')]
    : before
      ? ['before', before.key, Date.parse(before.at)]
      : ['after', after]
  return Buffer.from(numbers.filter((one) => !Number.isNaN(one)).join(':')).toString('base64url')
}

const mostMs = 8_640_000_000_000_000

/** How many numbers a cursor has: of a list by id, of older rows in a list by time, and of new or changed rows in one. */
const sizes: Record<string, readonly number[]> = { after: [1], before: [2], newer: [2, 3, 4] }

/** The place that a cursor names. */
export const readCursor = (cursor: string | undefined, byTime: boolean): PagePosition => {
  if (cursor === undefined) return { after: 0 }
  const [kind = '', ...texts] = Buffer.from(cursor, 'base64url').toString('latin1').split(':')
  const [key, ms, after = 0, beganMs] = texts.map(Number) as [number, number, number?, number?]
  const known =
    Object.hasOwn(sizes, kind) &&
    sizes[kind]!.includes(texts.length) &&
    texts.every((text) => /^\d{1,16}$/.test(text)) &&
    byTime === (kind !== 'after') &&
    ![ms, beganMs].some((time) => time !== undefined && time > mostMs)
  if (!known)
    throw new Refusal(422, 'invalid_field', 'cursor is not a cursor of this list', {
      issues: [{ field: 'cursor', message: 'is not a cursor of this list' }],
      hint: 'Use the cursor in the Link header of the previous page',
    })
  if (kind === 'after') return { after: key }
  const at = new Date(ms).toISOString()
  if (kind === 'before') return { after: 0, before: { key, at } }
  const began = beganMs === undefined ? undefined : new Date(beganMs).toISOString()
  return { after: 0, newer: { key, since: at, after, began } }
}

const laterThan = (key: number, time: string): PagePosition => ({
  after: 0,
  newer: { key, since: addMs(time, overlapMs), after: 0 },
})

/** The rows of a list from one place, at most `limit`, and the places before and after them once the rows are known. */
export const createPager = (place: PagePosition, limit: number, now: string) => {
  const found: { next?: PagePosition | undefined; later?: PagePosition | undefined } = {}
  const { before, newer } = place
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
      const last = kept.length === 0 ? undefined : placeOf(kept.at(-1)!)
      const until = rows.length > limit ? last : end
      if (newer) {
        const { began = now } = newer
        if (until) found.next = { after: 0, newer: { ...newer, after: until.key, began } }
        else found.later = laterThan(Math.max(newer.key, newer.after, last?.key ?? 0), began)
      } else {
        if (until) found.next = { after: 0, before: until }
        // No newer row that was looked at is in the list.
        const none = end?.key ?? 0
        const newest = rows.reduce(
          (most, row) => Math.max(most, placeOf(row).key),
          rows.length > 0 ? 0 : none,
        )
        if (!before) found.later = laterThan(newest, now)
      }
      return kept
    },
    found,
  }
}
export type Pager = ReturnType<typeof createPager>

/** The `Link` header for the places before and after the rows of an answer. */
export const linkHeader = (
  { next, later }: Pager['found'],
  { url, origin }: { url: string; origin: string },
): Record<string, string> => {
  const { pathname, searchParams } = new URL(url)
  const links = [
    ['next', next],
    ['prev', later],
  ].flatMap(([rel, place]) => {
    if (place === undefined) return []
    searchParams.set('cursor', encode(place as PagePosition))
    if (rel === 'prev') searchParams.delete('limit')
    return [`<${origin}${pathname}?${searchParams}>; rel="${rel as string}"`]
  })
  return links.length === 0 ? {} : { link: links.join(', ') }
}
