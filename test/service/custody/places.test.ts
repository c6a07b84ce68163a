import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { addMs } from '../../../src/core/iso-time.ts'
import { remac } from '../../../src/service/custody/rewrap.ts'
import { createMasterKeys } from '../../../src/service/custody/wrapping.ts'
import { sealedTables, wrappedColumns, wrappedSettings } from '../../../src/service/storage/schema.ts'
import { startTestService, type TestService } from '../harness.ts'
import { contentsOf, dataOf } from '../fixtures.ts'
import { createPhone } from '../page/phone.ts'
import { signAway } from '../page/sign-away.ts'
import { at, holdCalls } from '../rule-fixture.ts'
import { fill } from './kept-values.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService({ dev: true })
})
afterEach(() => service.close())

const known = [
  ...wrappedColumns.map(({ table, column }) => `${table}.${column}`),
  ...wrappedSettings.map(() => 'settings.value'),
]

test('a rotation knows every column of the schema with a name for wrapped values', async () => {
  // A left join, because a table without rows has columns too.
  const columns = await Promise.all(
    service.tables.map(async (table) => {
      const [row] = await service.runSql(`SELECT t.* FROM (SELECT 1) one LEFT JOIN "${table}" t ON 1 = 1`)
      return Object.keys(row!).map((column) => `${table}.${column}`)
    }),
  )
  expect(
    columns
      .flat()
      .filter((name) => name.split('.')[1]!.includes('wrapped'))
      .sort(),
  ).toEqual([...new Set(known)].filter((name) => name !== 'settings.value').sort())
})

test('a rotation knows the place of every wrapped value that the service stores', async () => {
  await fill(service)
  const signing = await service.storage.read((db) => db.selectFrom('signing_keys').selectAll().execute())
  const found = new Set<string>()
  for (const [table, rows] of Object.entries({ ...(await contentsOf(service)), signing_keys: signing }))
    for (const row of rows as Record<string, unknown>[])
      for (const [column, value] of Object.entries(row))
        if (/\bv\d\.[\w-]{16}\.[\w-]{22}\./.test(String(value))) found.add(`${table}.${column}`)
  expect([...found].sort()).toEqual([...new Set(known)].sort())
})

/** Whether a row can still be used. Others may have lost their MAC. */
const isOpen = ({ status, spent_at, used_at }: Record<string, unknown>): boolean =>
  (status ?? 'approved') === 'approved' && (spent_at ?? used_at ?? null) === null

test('a rotation gives every row its MAC under the new key', async () => {
  const { org } = await fill(service)
  const phone = await createPhone(service, org, 9, { role: 'admin' })
  dataOf(await signAway(service, phone, { until: addMs(service.storage.now(), 86_400_000) }))
  await holdCalls(service, org, ['org auth-code'], [phone.user])
  const rows = [{ operation: 'createAuthCode', input: { org_id: org, label: 'x' } }]
  dataOf(await service.call('POST', at(org, 'batches'), { body: { rows } }))
  const { user } = await createPhone(service, org, 10)
  dataOf(await service.call('DELETE', `/organization/${org}/delete/user/${user}`))
  const headers = { 'idempotency-key': 'k1' }
  await service.call('POST', '/organization/create', { body: { name: 'Beta' }, headers })
  const next = createMasterKeys(randomBytes(32))
  const lost = await service.storage.write((db) => remac(db, service.keyring, next), { org: 0 })
  expect(lost).toEqual([])
  for (const table of sealedTables) {
    if (table === 'api_keys') continue
    const rows = (await service.runSql(`SELECT * FROM ${table}`)) as never[]
    expect([table, rows.length > 0]).toEqual([table, true])
    expect(rows.filter((row) => isOpen(row) && !next.holds(table, row))).toEqual([])
  }
})
