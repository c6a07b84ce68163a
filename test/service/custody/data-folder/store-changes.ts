import { join } from 'node:path'
import Libsql from 'libsql'

/** Runs SQL on the store of a data folder as another program would: without the service and its master key. */
export const changeStore = (dataDir: string, sql: string, values: unknown[] = []): unknown[] => {
  const database = new Libsql(join(dataDir, 'svc.db'))
  try {
    const statement = database.prepare(sql)
    if (statement.reader) return statement.all(values)
    statement.run(values)
    return []
  } finally {
    database.close()
  }
}
