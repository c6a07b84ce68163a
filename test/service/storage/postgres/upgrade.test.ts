import { afterEach, beforeEach, expect, test } from 'vitest'
import { databaseMaintenance } from '../../../../src/service/lifecycle/database-maintenance.ts'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import { newestVersion } from '../../../../src/service/storage/migrations.ts'
import { addMigration } from '../../next-migration.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

const env = { SVC_MASTER_KEY: '11'.repeat(32) }
const from = newestVersion()
let database: string
let url: string
beforeEach(async () => {
  database = await copyDatabase('svc_template')
  url = databaseUrl(database)
  addMigration()
})
afterEach(() => dropDatabase(database))

const store = () => databaseMaintenance(url, env)

test('an older database is upgraded by svc service migrate, not by other commands', async () => {
  await expect(store().rotateSigningKey()).rejects.toMatchObject({
    code: 'store_older',
    hint: expect.stringContaining('svc service migrate'),
  })
  expect(await store().plannedUpgrade()).toEqual({ from, to: from + 1 })
  expect(await store().migrate()).toEqual({ from, to: from + 1 })
  expect(await store().migrate()).toBeUndefined()
  expect(await store().rotateSigningKey()).toMatchObject({ rotated: true })
})

test('nodes that start together upgrade it once', async () => {
  const stores = await Promise.all([1, 2, 3].map(() => openPostgres({ url })))
  for (const storage of stores) await storage.close()
  expect(await store().plannedUpgrade()).toEqual({ from: from + 1, to: from + 1 })
})
