import Libsql from 'libsql'
import { failure } from '../../../core/errors.ts'
import { applyMigrations, newestVersion, refuseNewer } from '../migrations.ts'
import type { Db } from '../schema.ts'
import type { Connection } from './connection.ts'

type Reader = { prepare(sql: string): { all(values: never[]): unknown[] } }

const tablesOf = (database: Reader): string[] =>
  (database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all([]) as { name: string }[]).map(
    ({ name }) => name,
  )

/**
 * The number of migrations that a store has seen. Before schema 21 only the pragma had it. It is still written, because an
 * older svc checks only the pragma before it refuses the store. The greater of the two counts.
 */
const versionOf = (database: Reader, tables = tablesOf(database)): number => {
  const [pragma] = database.prepare('PRAGMA user_version').all([]) as { user_version: number }[]
  const rows = tables.includes('schema_version')
    ? (database.prepare('SELECT version FROM schema_version').all([]) as { version: number }[])
    : []
  return Math.max(pragma!.user_version, ...rows.map(({ version }) => version))
}

/**
 * The number of migrations that the store in `file` has seen; 0 for an empty one. Changes nothing. Throws an SvcError if a
 * newer svc or another program wrote it.
 */
export const storeVersion = (file: string): number => {
  const database = new Libsql(file)
  try {
    const tables = tablesOf(database)
    const version = versionOf(database, tables)
    if (version === 0 ? tables.length > 0 : !tables.includes('api_keys'))
      throw failure(
        'foreign_store',
        `${file} belongs to another program; it was not changed`,
        'Use the data folder of svc, or a new folder: --data-dir NEWFOLDER',
      )
    refuseNewer(version)
    return version
  } finally {
    database.close()
  }
}

/** Upgrades the store in one exclusive transaction, all or nothing. Throws an SvcError if a newer svc wrote it. */
export const migrate = async (connection: Connection, db: Db): Promise<void> => {
  if (versionOf(connection) === newestVersion) return
  // A migration that replaces a table drops it, and rows that refer to it must stay. Must be set outside a transaction.
  connection.exec('PRAGMA foreign_keys = OFF')
  connection.exec('BEGIN EXCLUSIVE')
  try {
    await applyMigrations(db, versionOf(connection))
    if (connection.prepare('PRAGMA foreign_key_check').all([]).length > 0)
      throw new Error('a migration left rows that refer to nothing')
    connection.exec(`PRAGMA user_version = ${newestVersion}`)
    connection.exec('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  } finally {
    connection.exec('PRAGMA foreign_keys = ON')
  }
}
