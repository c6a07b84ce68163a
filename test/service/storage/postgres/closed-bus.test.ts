import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'
import { startProxy } from './cut-connections.ts'

test('a store that closes while it connects again leaves no connection, which would keep its process', async () => {
  const database = await copyDatabase('template0')
  const direct = await openPostgres({ url: databaseUrl(database) })
  const proxy = await startProxy(databaseUrl(database), { delayMs: 60 })
  const storage = await openPostgres({ url: proxy.url })
  const listeners = async (): Promise<number> => {
    const { rows } = await direct.read((db) =>
      sql`select 1 from pg_stat_activity where application_name = 'svc bus' and datname = ${database}`.execute(
        db,
      ),
    )
    return rows.length
  }
  try {
    proxy.close()
    await expect.poll(listeners).toBe(1)
    proxy.open()
    await expect.poll(listeners, { interval: 5, timeout: 5_000 }).toBe(2)
    await storage.close()
    await expect.poll(listeners, { timeout: 5_000 }).toBe(1)
  } finally {
    proxy.stop()
    await direct.close()
    await dropDatabase(database)
  }
})
