import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import { onTestFinished } from 'vitest'
import { openConnection } from '../../../../src/service/storage/sqlite/connection.ts'
import type { Tables } from '../../../../src/service/storage/schema.ts'
import { temporaryFolder } from '../../../temporary-folder.ts'

/** An empty store, gone at the end of the test; the test runs the migrations that it needs. */
export const openOldStore = () => {
  const folder = temporaryFolder()
  const connection = openConnection(join(folder.path, 'old.db'))
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) })
  onTestFinished(() => {
    connection.close()
    folder.remove()
  })
  return { connection, db }
}
