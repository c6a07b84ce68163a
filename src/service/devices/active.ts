import { sql } from 'kysely'

type Alias = 'devices' | 'd'

/** True of a device that decides, signs in and counts as enrolled. The statement itself sees it, whatever changed before. */
export const ofActiveDevice = (table: Alias) => sql<boolean>`${sql.ref(`${table}.state`)} = 'active'`

/** True of a device that is active or may still become so. */
export const ofKeptDevice = (table: Alias) =>
  sql<boolean>`${sql.ref(`${table}.state`)} in ('active', 'pending')`
