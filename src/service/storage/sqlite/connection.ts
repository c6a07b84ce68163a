import { chmodSync, closeSync, existsSync, openSync } from 'node:fs'
import type { SqliteDatabase, SqliteStatement } from 'kysely'
import Libsql from 'libsql'

export type Connection = SqliteDatabase & {
  exec(sql: string): void
  readonly inTransaction: boolean
}

// libsql aborts the whole process when it is given a boolean, and takes undefined for null.
const bindable = (values: readonly unknown[]): unknown[] =>
  values.map((value) => {
    if (typeof value === 'boolean') return value ? 1 : 0
    if (value === undefined) throw new TypeError('a statement was given an undefined value')
    return value
  })

const prepare = (database: Libsql.Database, sql: string): SqliteStatement => {
  const statement = database.prepare(sql)
  return {
    reader: statement.reader,
    all: (values) => statement.all(bindable(values)),
    run: (values) => statement.run(bindable(values)),
    iterate: (values) => statement.iterate(bindable(values)),
  }
}

/** Opens a SQLite file, 0600 whatever the umask (its -wal and -shm files take the same mode). Statements are kept by their text. */
export const openConnection = (path: string): Connection => {
  // Only where there is none: to close a file drops every lock that this process holds on it (POSIX), and another
  // process that closes the store would then take the WAL away with all that stands in it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const database = new Libsql(path)
  for (const pragma of [
    'busy_timeout = 5000',
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    // What was deleted or replaced is overwritten: a value wrapped by an earlier master key must not stay in a free page.
    'secure_delete = ON',
  ])
    database.exec(`PRAGMA ${pragma}`)
  const statements = new Map<string, SqliteStatement>()
  return {
    prepare: (sql) => {
      let statement = statements.get(sql)
      if (!statement) {
        // Texts vary only with the number of values in an insert or IN list; the cap bounds that.
        if (statements.size >= 500) statements.clear()
        statement = prepare(database, sql)
        statements.set(sql, statement)
      }
      return statement
    },
    exec: (sql) => database.exec(sql),
    get inTransaction() {
      return database.inTransaction
    },
    close: () => {
      statements.clear()
      database.close()
    },
  }
}
