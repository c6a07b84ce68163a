import type pg from 'pg'
import { failure, type SvcError } from '../../../core/errors.ts'
import { newestVersion } from '../migrations.ts'
import { type LastBackup, readLastBackup } from '../last-backup.ts'
import { lostAfterS } from '../schema/service.ts'
import { tableNames } from '../schema.ts'
import type { WholeStore } from '../whole-store.ts'
import { checkServer } from './check-server.ts'
import { execute } from './connection.ts'
import { readDatabaseUrl } from './database-url.ts'
import { queriesWith } from './dialect.ts'
import { type Facts, readFacts } from './facts.ts'
import { createSchema, databaseVersion, migrate, type Change } from './migrate.ts'
import { asDatabaseProblem } from './problems.ts'
import { writeAndUndo } from './undone-write.ts'
import { inTransaction, withClient } from './with-client.ts'

const wholeOf = (client: pg.Client): WholeStore => ({
  db: queriesWith((query) => execute(client, query)),
  readLastId: async (table) => {
    const { rows } = await client.query<{ last: number | null }>(
      "select pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass) as last",
      [table],
    )
    return rows[0]?.last ?? 0
  },
  writeLastId: async (table, id) => {
    if (id > 0)
      await client.query("select setval(pg_get_serial_sequence($1, 'id')::regclass, $2)", [table, id])
  },
})

export type Inspection = {
  /** Of the schema; 0 for an empty database. */
  version: number
  facts: Facts
  /** Why this user cannot write there; not tried in a database without the schema of this svc. */
  unwritable: SvcError | undefined
  /** The nodes that have reported lately, the connections that they may open together, and their versions. */
  nodes: { count: number; connections: number; versions: string[] }
  /** The addresses of those that have not. */
  lost: string[]
  backup: LastBackup | undefined
}

const nodesQuery = `
  select count(*)::int as count, coalesce(sum(connections_limit + 1), 0)::int as connections,
    coalesce(array_agg(distinct version), '{}') as versions
  from nodes where seen_at >= $1`

/** What is in a database, and what its server says about itself. Changes nothing. Throws an SvcError. */
export const inspectDatabase = (url: string): Promise<Inspection> => {
  const server = readDatabaseUrl(url)
  return withClient(server, async (client) => {
    const facts = await readFacts(client)
    const version = await databaseVersion(client)
    if (version < newestVersion())
      return {
        facts,
        version,
        unwritable: undefined,
        nodes: { count: 0, connections: 0, versions: [] },
        lost: [],
        backup: undefined,
      }
    // Statements have no limit here, and a table may stay locked.
    await client.query('set lock_timeout = 5000')
    const unwritable = await writeAndUndo(client).then(
      () => undefined,
      (error: unknown) => asDatabaseProblem(server, error),
    )
    const since = new Date(facts.time - lostAfterS * 1000).toISOString()
    const { rows } = await client.query<Inspection['nodes']>(nodesQuery, [since])
    const lost = await client.query<{ address: string }>('select address from nodes where seen_at < $1', [
      since,
    ])
    const backup = await readLastBackup(wholeOf(client).db, facts.archived_at)
    return {
      facts,
      version,
      unwritable,
      nodes: rows[0]!,
      lost: lost.rows.map(({ address }) => address),
      backup,
    }
  })
}

/** Runs `work` on a server that can have a store. */
const onServer = <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withClient(readDatabaseUrl(url), async (client) => {
    await checkServer(client, { durable: false })
    return work(client)
  })

/** Creates or upgrades the schema. */
export const migrateDatabase = (url: string): Promise<Change> => onServer(url, migrate)

/** Throws an SvcError unless the database has the schema of this svc. */
export const requireSchema = (version: number): void => {
  if (version === 0)
    throw failure(
      'no_store',
      'The database is empty',
      'The first start of a node creates the tables: svc serve',
    )
  if (version < newestVersion())
    throw failure(
      'store_older',
      `The database has schema ${version}, and this svc has schema ${newestVersion()}`,
      'Upgrade it first: svc service migrate',
    )
}

const unlimited = 'set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0'

/** Runs `work` on the store as it is now. Nodes can write meanwhile. */
export const readWhole = <T>(url: string, work: (store: WholeStore) => Promise<T>): Promise<T> =>
  withClient(readDatabaseUrl(url), (client) =>
    inTransaction(client, 'begin isolation level repeatable read read only', async () => {
      await client.query(unlimited)
      requireSchema(await databaseVersion(client))
      return work(wholeOf(client))
    }),
  )

const requireEmpty = (version: number): void => {
  if (version > 0)
    throw failure(
      'database_not_empty',
      'The database already contains a store of svc; nothing was changed',
      'Use an empty database: createdb svc2',
    )
}

/** Throws an SvcError unless a store can be created in the database. Changes nothing. */
export const checkEmpty = (url: string): Promise<void> =>
  onServer(url, async (client) => requireEmpty(await databaseVersion(client)))

/**
 * Creates a store in an empty database, with what `work` adds: all in one transaction, or nothing. Its statistics are written
 * too: without them, until autovacuum has come by, the server would read whole tables.
 */
export const createWhole = <T>(url: string, work: (store: WholeStore) => Promise<T>): Promise<T> =>
  onServer(url, (client) =>
    inTransaction(client, 'begin', async () => {
      await client.query(unlimited)
      requireEmpty(await createSchema(client))
      const result = await work(wholeOf(client))
      await client.query(`analyze ${tableNames.join()}`)
      return result
    }),
  )
