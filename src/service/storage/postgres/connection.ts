import type { Writable } from 'node:stream'
import type { QueryResult } from 'kysely'
import pg, { type ClientConfig, type PoolConfig, type QueryResult as Result } from 'pg'
import { type Asking, requireAsked } from '../as-asked.ts'
import type { DatabaseServer } from './database-url.ts'

/** Numbers, as SQLite returns them: ids and counts stay below 2^53. */
const numbers = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC])
export const types: PoolConfig['types'] = {
  getTypeParser: ((oid: number, format?: 'text') =>
    numbers.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

export type PoolOptions = { server: DatabaseServer; schema: string; max: number; readOnly?: boolean }

/**
 * What the user or the database may not change for svc: a policy that hides rows becomes an error, and no schema has functions that
 * stand for those of PostgreSQL; and numbers keep all of their digits.
 */
const settingsOf = ({ schema, readOnly }: Pick<PoolOptions, 'schema' | 'readOnly'>): string => {
  const path = `"${schema.replaceAll('"', '""')}"`.replaceAll(/[\\ ]/g, '\\$&')
  return `-c row_security=off -c extra_float_digits=1 -c search_path=${path}${readOnly ? ' -c default_transaction_read_only=on' : ''}`
}

/** How every connection is opened. */
export const connectionTo = (server: DatabaseServer): ClientConfig => {
  const { name: _, ...address } = server
  return { ...address, connectionTimeoutMillis: 5_000, keepAlive: true }
}

/**
 * In milliseconds. A node that vanished in a transaction holds its locks no longer than it may be idle. The server bounds each
 * statement but not COMMIT, and cannot end one whose answer is lost: `query_timeout` then closes the connection.
 */
export const limits = {
  lock_timeout: 5_000,
  idle_in_transaction_session_timeout: 2_000,
  statement_timeout: 10_000,
  query_timeout: 12_000,
}

/** How long a connection is used, at most. */
const renewedAfterS = 300

/** Several connections. Each is opened when it is needed; one that fails is replaced. */
export const openPool = ({ server, max, ...more }: PoolOptions): pg.Pool => {
  const pool = new pg.Pool({
    ...connectionTo(server),
    max,
    types,
    ...limits,
    // A query does not wait for the answer to the one before, so that a transaction begins in one round trip.
    pipeline: true,
    application_name: 'svc',
    // What is changed for the user, such as synchronous_commit, begins with a new connection.
    maxLifetimeSeconds: renewedAfterS,
    options: settingsOf(more),
  } as PoolConfig)
  // A connection that fails while nobody uses it. The next query opens another.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => {
    sendTogether(client)
    // While it is in use its queries fail, and an error without a listener would end the process.
    client.on('error', () => undefined)
    client.on('notice', ({ code }) => code === warning && warned.add(client))
  })
  return pool
}

/**
 * Sends the queries that one turn of the event loop brings to a connection in one packet. The driver corks the stream for the
 * messages of each query, and does not say where it is.
 */
const sendTogether = (client: pg.PoolClient): void => {
  const { stream } = (client as unknown as { connection: { stream: Writable } }).connection
  const uncork = stream.uncork.bind(stream)
  stream.uncork = () => process.nextTick(uncork)
}

const warning = '01000'
const warned = new WeakSet<object>()

/** Whether the server sends a warning with the answer to `query`: with that to a commit, that it was not replicated. */
export const isWarned = async (client: pg.PoolClient, query: Promise<unknown>): Promise<boolean> => {
  warned.delete(client)
  await query
  return warned.has(client)
}

type Queryable = { query(query: { name?: string; text: string; values: unknown[] }): Promise<Result> }

// Texts differ only in the number of values in an INSERT or IN list; the cap bounds what each connection prepares.
const namesAtMost = 500
const names = new Map<string, string>()

const nameOf = (sql: string): string | undefined => {
  const known = names.get(sql)
  if (known !== undefined || names.size >= namesAtMost) return known
  const name = `svc_${names.size}`
  names.set(sql, name)
  return name
}

/** Statements of transactions. Prepared, because the driver sends only those together with others. */
export const control = {
  begin: { name: 'svc_begin', text: 'begin' },
  savepoint: { name: 'svc_savepoint', text: 'savepoint job' },
  release: { name: 'svc_release', text: 'release job' },
  commit: { name: 'svc_commit', text: 'commit' },
  constraints: { name: 'svc_constraints', text: 'set constraints all immediate' },
}

/** For a statement whose failure also fails the next one of its transaction, which is awaited. */
export const unawaited = (statement: Promise<unknown>): void => void statement.catch(() => undefined)

const bindable = (value: unknown): unknown => {
  if (value === undefined) throw new TypeError('a statement was given an undefined value')
  return typeof value === 'boolean' ? Number(value) : value
}

/** Runs a query of Kysely as a prepared statement. */
export const execute = async <R>(connection: Queryable, asking: Asking): Promise<QueryResult<R>> => {
  const { sql, parameters } = asking
  const name = nameOf(sql)
  const { rows, rowCount } = await connection.query({
    ...(name !== undefined && { name }),
    text: sql,
    values: parameters.map(bindable),
  })
  requireAsked(asking, rows)
  return { rows: rows as R[], numAffectedRows: BigInt(rowCount ?? 0) }
}
