import type pg from 'pg'
import { SvcError } from '../../../core/errors.ts'
import { applyMigrations, newestVersion, refuseNewer } from '../migrations.ts'
import { execute } from './connection.ts'
import { queriesWith } from './dialect.ts'
import { migrationLock } from './locks.ts'

const versionOf = async (client: pg.PoolClient): Promise<number> => {
  const { rows: tables } = await client.query<{ table_name: string }>(
    "select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'",
  )
  if (tables.length === 0) return 0
  if (!tables.some(({ table_name }) => table_name === 'schema_version'))
    throw new SvcError(
      'failed',
      'foreign_store',
      'The database contains tables of another program; it was not changed',
      {
        hint: 'Create a database for svc alone: createdb svc',
      },
    )
  const { rows } = await client.query<{ version: number }>('select version from schema_version')
  return rows[0]?.version ?? 0
}

/** Creates or upgrades the schema in one transaction, all or nothing; nodes that start together do it once. */
export const migrate = async (client: pg.PoolClient): Promise<void> => {
  await client.query('begin')
  try {
    await client.query('set local lock_timeout = 0; set local statement_timeout = 0')
    await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [migrationLock] })
    const version = await versionOf(client)
    refuseNewer(version)
    if (version < newestVersion)
      await applyMigrations(
        queriesWith((query) => execute(client, query)),
        version,
      )
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}
