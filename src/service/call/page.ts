import { type SelectQueryBuilder, sql } from 'kysely'
import type { Call, Page } from './call.ts'

/** The rows of a page in the order of `key`, and one more that shows `call.paged` whether another page follows. */
export const inPage = <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  key: string,
  { limit, after }: Page,
): SelectQueryBuilder<DB, TB, Row> =>
  query
    .where(sql.ref(key), '>', after)
    .orderBy(sql.ref(key))
    .limit(limit + 1)

/** One page of a list in the order of `key`, which is the id of a row. */
export const readPage = async <DB, TB extends keyof DB, Row extends { id: number }>(
  { page, paged }: Pick<Call, 'page' | 'paged'>,
  query: SelectQueryBuilder<DB, TB, Row>,
  key: string,
): Promise<Row[]> => paged(await inPage(query, key, page).execute(), ({ id }) => id)

type Columns = {
  key: string
  at: string
  /** When a row was last changed; without it, a row never changes. */
  changed?: string
}

export type Span = { since?: string | undefined; until?: string | undefined }

/** The format of the store, in which the order of texts is the order of times. */
const inUtc = (time: string): string => new Date(time).toISOString()

/**
 * The rows of a page of a list by time, newest first, and one more that shows `call.pagedByTime` whether older ones follow.
 * After a cursor of `rel="prev"`: new or changed rows, oldest first.
 */
export const byTime = <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  columns: Columns,
  { since, until }: Span,
  { limit, before, newer }: Page,
): SelectQueryBuilder<DB, TB, Row> => {
  const [key, at] = [sql.ref<number>(columns.key), sql.ref<string>(columns.at)]
  const within = query
    .$if(since !== undefined, (some) => some.where(at, '>=', inUtc(since!)) as never)
    .$if(until !== undefined, (some) => some.where(at, '<', inUtc(until!)) as never) as typeof query
  if (newer) {
    const isNew = sql<boolean>`${key} > ${newer.key}`
    const { changed } = columns
    const isDue =
      changed === undefined ? isNew : sql<boolean>`(${isNew} or ${sql.ref(changed)} >= ${newer.since})`
    return within
      .where(isDue)
      .where(sql<boolean>`${key} > ${newer.after}`)
      .orderBy(key)
      .limit(limit + 1)
  }
  const older = before ? within.where(sql<boolean>`(${at}, ${key}) < (${before.at}, ${before.key})`) : within
  return older
    .orderBy(at, 'desc')
    .orderBy(key, 'desc')
    .limit(limit + 1)
}
