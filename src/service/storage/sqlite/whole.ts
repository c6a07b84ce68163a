import Libsql from 'libsql'
import type { WholeStore } from '../whole-store.ts'
import { type Connection, openConnection, queriesOf } from './connection.ts'
import { inTransaction, migrate } from './migrate.ts'

const wholeOf = (connection: Connection): WholeStore => {
  const readLastId: WholeStore['readLastId'] = async (table) => {
    const [row] = connection.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').all([table]) as {
      seq: number
    }[]
    return row?.seq ?? 0
  }
  return {
    db: queriesOf(connection),
    readLastId,
    writeLastId: async (table, id) => {
      if (id === 0) return
      // Rows with an id have made an entry.
      const { changes } = connection
        .prepare('UPDATE sqlite_sequence SET seq = ? WHERE name = ?')
        .run([id, table])
      if (Number(changes) === 0)
        connection.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run([table, id])
    },
  }
}

/** Runs `work` on a store of this schema as it is now. Other processes can write meanwhile. */
export const readWhole = async <T>(path: string, work: (store: WholeStore) => Promise<T>): Promise<T> => {
  const connection = openConnection(path)
  try {
    return await inTransaction(connection, 'BEGIN', () => work(wholeOf(connection)))
  } finally {
    connection.close()
  }
}

/** Creates a store in a new file, with what `work` adds. */
export const createWhole = async <T>(path: string, work: (store: WholeStore) => Promise<T>): Promise<T> => {
  const connection = openConnection(path)
  try {
    await migrate(connection, queriesOf(connection))
    return await inTransaction(connection, 'BEGIN IMMEDIATE', () => work(wholeOf(connection)))
  } finally {
    connection.close()
  }
}

/** Turns a store into a backup. It contains no master key: one of a database is never in a file. */
export const sealWhole = (path: string): void => {
  const database = new Libsql(path)
  database.exec('CREATE TABLE backup_master_key (value TEXT NOT NULL)')
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}
