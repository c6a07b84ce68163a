import { expect, test } from 'vitest'
import { acme, installHooks, service } from '../acme.ts'
import { dataOf } from '../fixtures.ts'
import { createPhone } from '../page/phone.ts'
import { onPostgres } from '../storage/postgres-databases.ts'

// Whoever can write to the database can give its columns defaults: the MAC must be of what the service meant.

installHooks()

const altered = async () => dataOf(await service.call('GET', '/svc/v1/audit/altered'))

/** As a default of the column: SQLite cannot add one, and a trigger does the same. */
const byDefault = async (table: string, column: string, value: string): Promise<void> => {
  await service.runSql(
    onPostgres()
      ? `ALTER TABLE ${table} ALTER COLUMN ${column} SET DEFAULT ${value}`
      : `CREATE TRIGGER by_default AFTER INSERT ON ${table} WHEN NEW.${column} IS NULL BEGIN
           UPDATE ${table} SET ${column} = ${value} WHERE id = NEW.id; END`,
  )
}

test('a key has no columns that the service left out', async () => {
  await byDefault('api_keys', 'lineage', '1')
  const body = { org_id: acme.id, name: 'ci', scopes: ['read'] }
  const { key, id } = dataOf(await service.call('POST', '/svc/v1/keys', { body }))
  const isWhole = (await service.call('GET', '/svc/v1/whoami', { key })).status === 200
  const rows = await service.runSql('SELECT lineage FROM api_keys WHERE id = ?', [Number(id)])
  // What the store changed nevertheless makes the key invalid.
  expect(isWhole).toBe((rows as { lineage: number | null }[])[0]!.lineage === null)
})

test('a device is not approved by what the store adds', async () => {
  await byDefault('devices', 'approved_at', "'2020-01-01T00:00:00.000Z'")
  const { user } = await createPhone(service, acme.id, 1)
  const [row] = (await service.runSql('SELECT id, approved_at FROM devices WHERE user_id = ?', [
    Number(user),
  ])) as [{ id: number; approved_at: string | null }]
  expect(await altered()).toEqual(
    row.approved_at === null ? [] : [{ org_id: acme.id, kind: 'device', id: String(row.id) }],
  )
})
