import { expect, test } from 'vitest'
import { remac } from '../../../src/service/custody/rewrap.ts'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { ask, decide } from '../approver.ts'
import { dataOf } from '../fixtures.ts'

installHooks()

test('a new master key keeps every request authentic, also a denied one, which the next approver reads', async () => {
  for (const decision of ['approve', 'deny'] as const) {
    const { request_id } = dataOf(await ask(service, ada, { action: decision }, acme.key))
    dataOf(await decide(service, request_id, ada.key, { decision }))
  }
  dataOf(await ask(service, ada, { action: 'pending' }, acme.key))
  const { keyring } = service
  const lost = await service.storage.write(
    (db) => remac(db, keyring, { macOf: (table, row) => `new ${keyring.macOf(table, row)}` }),
    { org: null },
  )
  expect(lost).toEqual([])
  const rows = await service.runSql('SELECT status, row_mac FROM approvals ORDER BY id')
  expect(rows).toEqual(
    ['approved', 'denied', 'pending'].map((status) => ({
      status,
      row_mac: expect.stringMatching(/^new /),
    })),
  )
})
