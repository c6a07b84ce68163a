import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import {
  type BinaryOperationNode,
  ColumnNode,
  Kysely,
  OperatorNode,
  type QueryResult,
  ReferenceNode,
  type SqliteDatabase,
  SqliteDialect,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely'
import Libsql from 'libsql'
import { type Asking, requireAsked } from '../as-asked.ts'
import type { Db, Tables } from '../schema.ts'

export type Connection = Omit<SqliteDatabase, 'prepare'> & {
  prepare(sql: string): Statement
  exec(sql: string): void
  readonly inTransaction: boolean
  /** The number of statements so far that may have written something. */
  readonly writes: number
}

type Statement = ReturnType<SqliteDatabase['prepare']> & {
  /** The first row, in half the time of `all`. */
  first(values: readonly unknown[]): unknown
}

// libsql aborts the whole process for a boolean, and treats undefined as null.
const bindable = (values: readonly unknown[]): readonly unknown[] => {
  for (const value of values)
    if (value === undefined) throw new TypeError('a statement was given an undefined value')
  return values.some((value) => typeof value === 'boolean')
    ? values.map((value) => (typeof value === 'boolean' ? Number(value) : value))
    : values
}

/** An INSERT of one row that returns its id. */
const insertsOne =
  /^(insert into "\w+" \([^()]*\) values \([^()]*\)(?: on conflict \([^()]*\) do nothing)?) returning "id"$/

/** The id of a row is its row number, which the engine knows without a result set: that takes a third of the time. */
const insertOne = (statement: Libsql.Statement, values: readonly unknown[]): { id: number }[] => {
  const { changes, lastInsertRowid } = statement.run(values)
  return changes === 1 ? [{ id: Number(lastInsertRowid) }] : []
}

const prepare = (database: Libsql.Database, sql: string, noteWrite: () => void): Statement => {
  const [, insert] = insertsOne.exec(sql) ?? []
  const statement = database.prepare(insert ?? sql)
  const mayWrite = !/^select\b/i.test(sql)
  const given = (values: readonly unknown[]): readonly unknown[] => {
    if (mayWrite) noteWrite()
    return bindable(values)
  }
  return {
    reader: insert !== undefined || statement.reader,
    all: (values) =>
      insert === undefined ? statement.all(given(values)) : insertOne(statement, given(values)),
    first: (values) => statement.get(given(values)),
    run: (values) => statement.run(given(values)),
    iterate: (values) => statement.iterate(given(values)),
  }
}

/** Runs `work` on a file as it is, and closes it. */
export const useFile = <T>(file: string, work: (database: Libsql.Database) => T): T => {
  const database = new Libsql(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Opens a SQLite file with mode 0600 under any umask (its -wal and -shm files get the same). Caches statements by text. */
export const openConnection = (path: string): Connection => {
  // Only if it does not exist: closing a file drops every lock that this process has on it (POSIX), and another process
  // that closes the store would then delete the WAL and everything in it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const database = new Libsql(path)
  for (const pragma of [
    'busy_timeout = 5000',
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    // Overwrites deleted data: a value wrapped by an earlier master key must not stay in a free page.
    'secure_delete = ON',
    // 12 MiB, because the indexes of some ten thousand rows do not fit into the default of 2 MiB.
    'cache_size = -12288',
    // 16 MiB: most commits change the same pages, which a checkpoint then copies once.
    'wal_autocheckpoint = 4000',
  ])
    database.exec(`PRAGMA ${pragma}`)
  const statements = new Map<string, Statement>()
  let writes = 0
  const noteWrite = (): void => void (writes += 1)
  let closed = false
  // libsql aborts the whole process when a closed connection is used.
  const refuseClosed = (): void => {
    if (closed) throw new Error('the store is closed')
  }
  return {
    prepare: (sql) => {
      refuseClosed()
      let statement = statements.get(sql)
      if (!statement) {
        // Texts differ only in the number of values in an INSERT or IN list; the cap bounds that.
        if (statements.size >= 500) statements.clear()
        statement = prepare(database, sql, noteWrite)
        statements.set(sql, statement)
      }
      return statement
    },
    exec: (sql) => {
      refuseClosed()
      noteWrite()
      database.exec(sql)
    },
    get writes() {
      return writes
    },
    get inTransaction() {
      return !closed && database.inTransaction
    },
    close: () => {
      closed = true
      statements.clear()
      database.close()
    },
  }
}

/** A SELECT without FROM has exactly one row. */
const oneRow = /^select \(/

const execute = async <R>(connection: Connection, asking: Asking): Promise<QueryResult<R>> => {
  const { sql, parameters } = asking
  const statement = connection.prepare(sql)
  if (oneRow.test(sql)) {
    // libsql adds how long it took.
    const { _metadata: _, ...row } = statement.first(parameters) as Record<string, unknown>
    requireAsked(asking, [row])
    return { rows: [row as R] }
  }
  if (statement.reader) {
    const rows = statement.all(parameters) as R[]
    requireAsked(asking, rows)
    return { rows }
  }
  const { changes, lastInsertRowid } = statement.run(parameters)
  return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
}

/** The columns that partial indexes compare with a word. */
const ofIndexes = new Set(['status', 'state'])

const isWord = (node: BinaryOperationNode['rightOperand']): node is ValueNode =>
  ValueNode.is(node) && typeof node.value === 'string' && /^[a-z_]+$/.test(node.value)

/**
 * Writes such a word into the SQL: SQLite plans a statement again at each run whose bound value could choose a partial index,
 * which takes longer than to run it (sqlite.org/c3ref/prepare.html).
 */
class Compiler extends SqliteQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand: left, operator, rightOperand: right } = node
    const isOfIndex =
      ReferenceNode.is(left) && ColumnNode.is(left.column) && ofIndexes.has(left.column.column.name)
    const isEqual = OperatorNode.is(operator) && operator.operator === '='
    super.visitBinaryOperation(
      isOfIndex && isEqual && isWord(right)
        ? { ...node, rightOperand: ValueNode.createImmediate(right.value) }
        : node,
    )
  }
}

export const queriesOf = (connection: Connection): Db => {
  const dialect = new SqliteDialect({ database: connection })
  dialect.createQueryCompiler = () => new Compiler()
  const db = new Kysely<Tables>({ dialect })
  // Kysely acquires and releases a connection for each query, as from a pool. There is only one here, always available.
  db.getExecutor().executeQuery = (query) => execute(connection, query)
  return db
}
