import pg from 'pg'
import { expect, test } from 'vitest'
import { createKeyring } from '../../../../src/service/custody/create-keyring.ts'
import { checkService } from '../../../../src/service/lifecycle/check-service.ts'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

test('a check of a start finds that the database can be read and not written', async () => {
  const database = await copyDatabase('template0')
  try {
    const url = databaseUrl(database)
    await (await openPostgres({ url, durable: false })).close()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`alter database "${database}" set default_transaction_read_only = on`)
    await client.end()
    const env = { SVC_MASTER_KEY: '11'.repeat(32) }
    const check = checkService({ databaseUrl: url, allowDataLoss: true, env, log: () => undefined })
    await expect(check).rejects.toMatchObject({ code: 'database_read_only' })
  } finally {
    await dropDatabase(database)
  }
})

test('a check of a start finds that the master key is not that of the database', async () => {
  const database = await copyDatabase('template0')
  try {
    const url = databaseUrl(database)
    const check = (key: string) =>
      checkService({
        databaseUrl: url,
        allowDataLoss: true,
        env: { SVC_MASTER_KEY: key },
        log: () => undefined,
      })
    const [own, other] = ['11'.repeat(32), '22'.repeat(32)]
    await expect(check(other)).resolves.toBeUndefined()
    const storage = await openPostgres({ url, durable: false })
    await createKeyring(storage, Buffer.from(own, 'hex'))
    await storage.close()
    await expect(check(own)).resolves.toBeUndefined()
    await expect(check(other)).rejects.toMatchObject({
      code: 'wrong_master_key',
      hint: expect.stringContaining('the key of this database'),
    })
  } finally {
    await dropDatabase(database)
  }
})
