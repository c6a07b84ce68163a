import { addMs } from '../../core/iso-time.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Page } from '../call/call.ts'

/** A write takes time to commit: a row may appear twice, but none is missed. */
const overlapMs = -5_000

/** A cursor of a list by id, of older rows in a list by time, and of new or changed rows in one. */
type Kind = 'after' | 'before' | 'newer'

const encode = (kind: Kind, ...numbers: number[]): string =>
  Buffer.from([kind, ...numbers].join(':')).toString('base64url')

const invalidField = (field: string, message: string, hint: string): Refusal =>
  new Refusal(422, 'invalid_field', `${field} ${message}`, { issues: [{ field, message }], hint })

const mostMs = 8_640_000_000_000_000

const decode = (cursor: string, byTime: boolean): Omit<Page, 'limit'> => {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, kind, ...found] = /^(after|before|newer):(\d{1,15})(?::(\d{1,16}))?$/.exec(text) ?? []
  const [key, ms] = found.map(Number) as [number, number]
  const known = byTime ? kind !== 'after' && ms <= mostMs : kind === 'after' && Number.isNaN(ms)
  if (kind === undefined || !known)
    throw invalidField(
      'cursor',
      'is not a cursor of this list',
      'Use the cursor in the Link header of the previous page',
    )
  if (kind === 'after') return { after: key }
  const at = new Date(ms).toISOString()
  return kind === 'before' ? { after: 0, before: { key, at } } : { after: 0, newer: { key, since: at } }
}

type Options = {
  input: Record<string, unknown>
  url: string
  origin: string
  /** The list is sorted by time, newest first. */
  byTime: boolean
  now: string
}

/** The page that the input requests, and the `Link` header once the rows are known. */
export const createPager = ({ input, url, origin, byTime, now }: Options) => {
  const limit = input.limit as number | undefined
  const page: Page = {
    ...(input.cursor === undefined ? { after: 0 } : decode(input.cursor as string, byTime)),
    ...(limit !== undefined && { limit }),
  }
  if (page.newer && limit !== undefined)
    throw invalidField('limit', 'cannot be combined with a cursor of rel="prev"', 'Leave limit out')
  const links: string[] = []
  const link = (rel: 'next' | 'prev', cursor: string): void => {
    const { pathname, searchParams } = new URL(url)
    searchParams.set('cursor', cursor)
    if (rel === 'prev') searchParams.delete('limit')
    links.push(`<${origin}${pathname}?${searchParams}>; rel="${rel}"`)
  }
  const cut = <Row>(rows: Row[]): Row[] | undefined =>
    limit === undefined || rows.length <= limit ? undefined : rows.slice(0, limit)

  return {
    page,
    paged: <Row>(rows: Row[], key: (row: Row) => number): Row[] => {
      const kept = cut(rows)
      if (kept) link('next', encode('after', key(kept.at(-1)!)))
      return kept ?? rows
    },
    pagedByTime: <Row>(rows: Row[], place: (row: Row) => { key: number; at: string }): Row[] => {
      const kept = cut(rows)
      if (kept) {
        const { key, at } = place(kept.at(-1)!)
        link('next', encode('before', key, Date.parse(at)))
      }
      if (!page.before) {
        const newest = rows.reduce((most, row) => Math.max(most, place(row).key), page.newer?.key ?? 0)
        link('prev', encode('newer', newest, Date.parse(addMs(now, overlapMs))))
      }
      return kept ?? rows
    },
    headers: (): Record<string, string> => (links.length === 0 ? {} : { link: links.join(', ') }),
  }
}
