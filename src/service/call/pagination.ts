import { type SelectQueryBuilder, sql } from 'kysely'
import type { Call, Page, PlaceInTime } from './call.ts'

/**
 * The most rows that one read looks at in a list with a filter that has no index of its own: a filter that no row passes must not
 * make one read go through a whole table.
 */
const readAtMost = 2_000

/**
 * One page of a list in the order of `key`, which is the id of a row. `all` are the rows that the query filters, for one whose
 * filter has no index: the page may then have fewer rows than its limit, and still a next page.
 */
export const readPage = async <
  DB,
  TB extends keyof DB,
  Row extends { id: number },
  AllDB,
  All extends keyof AllDB,
>(
  { page, paged }: Pick<Call, 'page' | 'paged'>,
  query: SelectQueryBuilder<DB, TB, Row>,
  key: string,
  all?: SelectQueryBuilder<AllDB, All, object>,
): Promise<Row[]> => {
  const id = sql.ref<number>(key)
  const end = await all
    ?.where(id, '>', page.after as never)
    .select(id.as('end'))
    .orderBy(id)
    .limit(1)
    .offset(readAtMost - 1)
    .$castTo<{ end: number }>()
    .executeTakeFirst()
  const within = end ? query.where(id, '<=', end.end as never) : query
  const rows = await within
    .where(id, '>', page.after as never)
    .orderBy(id)
    // One more shows whether another page follows.
    .limit(page.limit + 1)
    .execute()
  return paged(rows, (row) => row.id, end?.end)
}

/** The number of the rows of a query. */
export const countRows = async <DB, TB extends keyof DB>(
  query: SelectQueryBuilder<DB, TB, object>,
): Promise<number> => {
  const { count } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('count'))
    .$castTo<{ count: number }>()
    .executeTakeFirstOrThrow()
  return count
}

type Columns = { key: string; at: string }

export type Span = { since?: string | undefined; until?: string | undefined }

/** The format of the store, in which the order of texts is the order of times. */
const inUtc = (time: string): string => new Date(time).toISOString()

/**
 * The rows of a page of a list by time, newest first, and one more that shows `call.pagedByTime` whether older ones follow.
 * `end` is the last row that may be looked at.
 */
export const byTime = <DB, TB extends keyof DB, Row>(
  filtered: SelectQueryBuilder<DB, TB, Row>,
  columns: Columns,
  { since, until }: Span,
  { limit, before }: Page,
  end?: PlaceInTime,
): SelectQueryBuilder<DB, TB, Row> => {
  const [key, at] = [sql.ref<number>(columns.key), sql.ref<string>(columns.at)]
  const query = end ? filtered.where(sql<boolean>`(${at}, ${key}) >= (${end.at}, ${end.key})`) : filtered
  const within = query
    .$if(since !== undefined, (some) => some.where(at, '>=', inUtc(since!)) as never)
    .$if(until !== undefined, (some) => some.where(at, '<', inUtc(until!)) as never) as typeof query
  const older = before ? within.where(sql<boolean>`(${at}, ${key}) < (${before.at}, ${before.key})`) : within
  return older
    .orderBy(at, 'desc')
    .orderBy(key, 'desc')
    .limit(limit + 1)
}

/**
 * The last row that one read looks at, of rows with filters that no index has together; undefined if it reaches all of them.
 * `all` are the rows without the filters.
 */
export const endOfReach = <DB, TB extends keyof DB, Row>(
  all: SelectQueryBuilder<DB, TB, Row>,
  columns: Columns,
  span: Span,
  page: Page,
): Promise<PlaceInTime | undefined> => {
  const [key, at] = [sql.ref<number>(columns.key), sql.ref<string>(columns.at)]
  return byTime(all, columns, span, { ...page, limit: 0 })
    .offset(readAtMost - 1)
    .select([key.as('key'), at.as('at')])
    .$castTo<PlaceInTime>()
    .executeTakeFirst()
}
