import { afterEach, beforeEach, expect, test } from 'vitest'
import { sql } from 'kysely'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import type { Storage } from '../../../../src/service/storage/storage.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

let database: string
let storage: Storage
beforeEach(async () => {
  database = await copyDatabase('svc_template')
  storage = await openPostgres({ url: databaseUrl(database) })
})
afterEach(async () => {
  await storage.close()
  await dropDatabase(database)
})

test('writes that do not fit into one transaction use the same connection', async () => {
  const backends = await Promise.all(
    Array.from({ length: 8 }, () =>
      storage.write(
        async (db) => {
          // Longer than a transaction waits for the next write.
          const { rows } = await sql<{
            pid: number
          }>`select pg_backend_pid() as pid, pg_sleep(0.02)::text`.execute(db)
          return rows[0]!.pid
        },
        { org: 1 },
      ),
    ),
  )
  expect(new Set(backends).size).toBe(1)
})
