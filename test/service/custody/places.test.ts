import { afterEach, beforeEach, expect, test } from 'vitest'
import { keptColumns, keptSettings } from '../../../src/service/storage/schema/wrapped.ts'
import { startTestService, type TestService } from '../harness.ts'
import { contentsOf } from '../fixtures.ts'
import { fill } from './kept-values.ts'
import { changeStore } from './store-changes.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService({ dev: true })
})
afterEach(() => service.close())

const known = [
  ...Object.values(keptColumns).map(({ table, column }) => `${table}.${column}`),
  ...keptSettings.map(() => 'settings.value'),
]

test('a rotation knows every column of the schema with a name for wrapped values', () => {
  const columns = changeStore(
    service.folder,
    "SELECT m.name || '.' || c.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name LIKE '%wrapped%'",
  ) as { name: string }[]
  expect(columns.map(({ name }) => name).sort()).toEqual(
    [...new Set(known)].filter((name) => name !== 'settings.value').sort(),
  )
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
