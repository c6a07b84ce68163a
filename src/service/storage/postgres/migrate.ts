import type { Client, ClientBase } from 'pg'
import { failure, SvcError } from '../../../core/errors.ts'
import { applyMigrations, newestVersion, refuseNewer } from '../migrations.ts'
import { tableNames } from '../schema.ts'
import { execute } from './connection.ts'
import { queriesWith } from './dialect.ts'
import { migrationLock } from './take-locks.ts'
import { inTransaction } from './with-client.ts'

const readTables = async (client: ClientBase): Promise<string[]> => {
  const { rows } = await client.query<{ tablename: string }>(
    'select tablename from pg_tables where schemaname = current_schema()',
  )
  return rows.map(({ tablename }) => tablename)
}

const restore = 'Restore the last backup into an empty database: svc service restore BACKUP.db'

/** The number of migrations that the database has seen; 0 for an empty one. Throws an SvcError if it is not a store of svc. */
export const databaseVersion = async (client: ClientBase): Promise<number> => {
  const tables = await readTables(client)
  if (tables.length === 0) return 0
  if (!tables.includes('schema_version'))
    throw failure(
      'foreign_store',
      'The database contains tables of another program; it was not changed',
      'Use a separate database: createdb svc',
    )
  const { rows } = await client.query<{ version: number }>('select version::int from schema_version')
  const [row] = rows
  if (row === undefined || rows.length > 1 || row.version < 1)
    throw failure('store_damaged', 'The database has no valid schema version', restore)
  try {
    refuseNewer(row.version)
  } catch (error) {
    throw (error as SvcError).with({
      hint: 'Use the newer svc for this. In a planned upgrade, the nodes of this version that already run continue. To go back, restore a backup from before the upgrade into an empty database',
    })
  }
  const missing = row.version === newestVersion() ? tableNames.filter((name) => !tables.includes(name)) : []
  if (missing.length > 0)
    throw failure('store_damaged', `The database lacks tables of svc: ${missing.join(', ')}`, restore)
  return row.version
}

export type Change = { from: number; to: number }

/** Creates or upgrades the schema in the current transaction; returns the version before. */
export const createSchema = async (client: ClientBase): Promise<number> => {
  await client.query('set local lock_timeout = 0; set local statement_timeout = 0')
  await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [migrationLock] })
  const version = await databaseVersion(client)
  if (version < newestVersion())
    await applyMigrations(
      queriesWith((query) => execute(client, query)),
      version,
    )
  return version
}

/** Creates or upgrades the schema in one transaction, all or nothing. Nodes that start together do it once. */
export const migrate = async (client: Client): Promise<Change> => ({
  from: await inTransaction(client, 'begin', () => createSchema(client)),
  to: newestVersion(),
})
