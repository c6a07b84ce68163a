import { sql, type Kysely } from 'kysely'
import { SvcError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'
import * as administration from './migrations/0001-administration.ts'
import type { Tables } from './schema.ts'

/** Forward only: a migration that was released is never changed, the next one is added below it. */
const migrations: { up(db: Kysely<Tables>): Promise<void> }[] = [administration]

const versionOf = async (db: Kysely<Tables>): Promise<number> =>
  (await sql<{ user_version: number }>`PRAGMA user_version`.execute(db)).rows[0]!.user_version

/** Brings the store up to date, all or nothing, in one exclusive transaction; answers the version it had and has. */
export const migrate = async (
  connection: Connection,
  db: Kysely<Tables>,
): Promise<{ from: number; to: number }> => {
  const to = migrations.length
  if ((await versionOf(db)) === to) return { from: to, to }
  connection.exec('BEGIN EXCLUSIVE')
  try {
    const from = await versionOf(db)
    if (from > to)
      throw new SvcError('failed', 'store_too_new', `The store has version ${from}; this svc knows ${to}`, {
        hint: 'Use the svc that wrote it, or a newer one',
      })
    for (const migration of migrations.slice(from)) await migration.up(db)
    connection.exec(`PRAGMA user_version = ${to}`)
    connection.exec('COMMIT')
    return { from, to }
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
}
