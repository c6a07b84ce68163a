import { sql, type SelectQueryBuilder } from 'kysely'
import type { Page } from './call.ts'

/** The rows of a page in the order of `key`, and one more that tells `call.paged` whether another page follows. */
export const inPage = <DB, TB extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, TB, Row>,
  key: string,
  { limit, after }: Page,
): SelectQueryBuilder<DB, TB, Row> => {
  const ordered = query.where(sql.ref(key), '>', after).orderBy(sql.ref(key))
  return limit === undefined ? ordered : ordered.limit(limit + 1)
}
