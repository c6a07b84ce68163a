import { afterEach, beforeEach, expect, test } from 'vitest'
import { findAlteredRows } from '../../../src/service/custody/altered-rows.ts'
import { startTestService, type TestService } from '../harness.ts'
import { createPhone } from '../page/phone.ts'
import { settle } from '../tenant-holding.ts'

let service: TestService
beforeEach(async () => {
  service = await startTestService({ dev: true })
})
afterEach(() => service.close())

/** What no MAC covers, because each use changes it, or no decision relies on it. */
const uncovered = new Set([
  'api_keys.last_used_at',
  'devices.last_used_at',
  'devices.backed_up',
  'devices.attachment',
  ...['decided_at', 'ended_at', 'decided_by', 'answers', 'attestation', 'detail', 'note', 'ruling'].map(
    (column) => `approvals.${column}`,
  ),
  'ballots.decision_digest',
])

/** Values for the columns that nothing here sets. They are written with a MAC, as the service writes them. */
const fillings = {
  // Nobody has used these links yet.
  enrollments: { used_at: null, added_by: 1 },
  approvals: {
    reason: 'x',
    number: '42',
    asked_from: '203.0.113.7',
    key_owner: '{}',
    unchecked_factors: '[]',
  },
  devices: { approved_at: '2030', active_from: '2030', added_by: 1, approved_by: 1, approved_by_key: 1 },
  appointments: { by_key: 1, by_device: 1 },
} as const

const fill = (): Promise<void> =>
  service.storage.write(
    async (db) => {
      for (const [table, values] of Object.entries(fillings))
        for (const row of await db
          .selectFrom(table as 'devices')
          .selectAll()
          .execute()) {
          const next = { ...row, ...values }
          const row_mac = service.keyring.macOf(table as 'devices', next)
          await db
            .updateTable(table as 'devices')
            .set({ ...(values as object), row_mac })
            .where('id', '=', row.id)
            .execute()
        }
    },
    { org: 0 },
  )

test('a row is altered if another program removes a value, in every column that a MAC covers', async () => {
  const { org } = await settle(service, 'acme', 7)
  await createPhone(service, org, 2, { role: 'admin' })
  await fill()
  expect(await findAlteredRows(service.service)).toEqual([])
  const found: string[] = []
  const missed: string[] = []
  for (const table of [
    'api_keys',
    'approvals',
    'ballots',
    'devices',
    'enrollments',
    'appointments',
    'verifications',
  ])
    for (const row of await service.runSql(`SELECT * FROM ${table} ORDER BY id`))
      for (const [column, value] of Object.entries(row)) {
        const name = `${table}.${column}`
        if (value === null || uncovered.has(name) || found.includes(name)) continue
        const set = (to: unknown) =>
          service.runSql(`UPDATE ${table} SET "${column}" = ? WHERE id = ?`, [to, row.id])
        try {
          await set(null)
        } catch {
          // The schema refuses it in most columns.
          continue
        }
        ;((await findAlteredRows(service.service)).length === 1 ? found : missed).push(name)
        await set(value)
      }
  expect(missed).toEqual([])
  expect(found).toEqual(
    expect.arrayContaining([
      ...['audience', 'client_id', 'client_name', 'expires_at', 'org_id', 'owner_user_id'].map(
        (one) => `api_keys.${one}`,
      ),
      ...Object.entries(fillings).flatMap(([table, values]) =>
        Object.entries(values).flatMap(([column, value]) => (value === null ? [] : [`${table}.${column}`])),
      ),
    ]),
  )
})
