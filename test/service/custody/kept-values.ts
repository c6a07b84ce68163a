import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { wrappedColumns, wrappedSettings, type WrapContext } from '../../../src/service/storage/schema.ts'
import type { Keyring } from '../../../src/service/call/keyring.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { dataOf } from '../fixtures.ts'
import type { TestService } from '../harness.ts'
import { settle } from '../tenant-holding.ts'

/** Adds a value in every place for wrapped values. */
export const fill = async (service: TestService) => {
  const holding = await settle(service, 'acme', 1)
  const idp = { provider: 'okta', client_id: 'id', client_secret: 's3cret' }
  dataOf(await service.call('POST', `/organization/${holding.org}/idp-api-creds`, { body: idp }))
  const { storage, keyring } = service
  const device_id = Number(holding.device)
  const endpoint_hash = 'ab'.repeat(32)
  const wrapped = keyring.wrap(
    '{"endpoint":"https://push.example/2"}',
    `device_push:${device_id}:${endpoint_hash}`,
  )
  await storage.write(
    (db) =>
      db
        .insertInto('device_push')
        .values({ device_id, endpoint_hash, session_id: 1, wrapped, created_at: storage.now() })
        .execute(),
    { org: 0 },
  )
  return holding
}

/** Closes a service. Its store and its master key are then in a data folder. */
export const leaveIn = async (service: TestService, dataDir: string): Promise<void> => {
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(dataDir, 'master.key'), `${service.masterKey.toString('base64')}\n`, { mode: 0o600 })
  const kept = join(dataDir, 'kept.db')
  await service.close(kept)
  copyFileSync(kept, join(dataDir, 'svc.db'))
}

/** Every wrapped value by its context; undefined if this keyring cannot open it. */
export const openAll = (
  storage: Storage,
  { unwrap }: Pick<Keyring, 'unwrap'>,
): Promise<Map<string, string | undefined>> =>
  storage.read(async (db) => {
    const found = new Map<string, string | undefined>()
    const open = (context: string, value: string): void => {
      let plain: string | undefined
      try {
        plain = unwrap(value, context as WrapContext)
      } catch {
        plain = undefined
      }
      found.set(context, plain)
    }
    for (const { table, column, by } of wrappedColumns) {
      const { rows } = await sql<Record<string, string>>`select * from ${sql.table(table)}`.execute(db)
      for (const row of rows)
        if (row[column] !== null) open([table, ...by.map((one) => row[one])].join(':'), row[column]!)
    }
    const settings = await db
      .selectFrom('settings')
      .where('name', 'in', wrappedSettings)
      .selectAll()
      .execute()
    for (const { name, value } of settings) open(name, value)
    return found
  })
