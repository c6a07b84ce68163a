import { failure } from '../../../core/errors.ts'
import { databaseAltered } from '../store-changed.ts'
import { applyMigrations, newestVersion, refuseNewer } from '../migrations.ts'
import type { Db } from '../schema.ts'
import { type Connection, useFile } from './connection.ts'
import { damage } from './errors.ts'

type Reader = { prepare(sql: string): { all(values: never[]): unknown[] } }

const damaged = (): Error => damage('the store has no valid schema version')

/** The number of migrations that a store has seen; 0 for an empty one, undefined for one of another program. */
const versionOf = (database: Reader): number | undefined => {
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]) as {
    name: string
  }[]
  if (tables.length === 0) return 0
  if (!tables.some(({ name }) => name === 'schema_version')) return undefined
  const rows = database.prepare('SELECT version FROM schema_version').all([]) as { version: number }[]
  const [row] = rows
  if (row === undefined || rows.length > 1 || row.version < 1) throw damaged()
  return row.version
}

/**
 * The number of migrations that the store in `file` has seen; 0 for an empty one. Changes nothing. Throws an SvcError if a
 * newer svc or another program wrote it.
 */
export const storeVersion = (file: string): number => {
  const version = useFile(file, versionOf)
  if (version === undefined)
    throw failure(
      'foreign_store',
      `${file} belongs to another program; it was not changed`,
      'Use the data folder of svc, or a new folder: --data-dir NEWFOLDER',
    )
  refuseNewer(version)
  return version
}

const refuseTriggers = (connection: Connection): void => {
  const [found] = connection
    .prepare("SELECT name, tbl_name FROM sqlite_master WHERE type = 'trigger'")
    .all([]) as {
    name: string
    tbl_name: string
  }[]
  if (found) throw databaseAltered(`trigger ${found.name} on ${found.tbl_name}`, 'DROP TRIGGER')
}

/** All of `work` or nothing. */
export const inTransaction = async <T>(
  connection: Connection,
  begin: string,
  work: () => Promise<T>,
): Promise<T> => {
  connection.exec(begin)
  try {
    const result = await work()
    connection.exec('COMMIT')
    return result
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
}

/** Upgrades the store in one exclusive transaction. Throws an SvcError if a newer svc wrote it, or if another program added triggers. */
export const migrate = async (connection: Connection, db: Db): Promise<void> => {
  refuseTriggers(connection)
  if (versionOf(connection) === newestVersion()) return
  await inTransaction(connection, 'BEGIN EXCLUSIVE', async () => {
    const version = versionOf(connection)
    if (version === undefined) throw damaged()
    await applyMigrations(db, version)
  })
}
