import { expect, test } from 'vitest'
import { watchRetention } from '../../../src/service/lifecycle/retention.ts'
import { acme, clock, installHooks, service } from '../acme.ts'
import { day } from '../clock.ts'
import { dataOf, fence } from '../fixtures.ts'

installHooks()

const kept = () => service.storage.read((db) => db.selectFrom('idempotency').selectAll().execute())

test('sweeps when the service starts, and stops at the end of a transaction', async () => {
  const headers = { 'idempotency-key': 'k' }
  dataOf(
    await service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
      key: acme.key,
      body: fence,
      headers,
    }),
  )
  clock.tick(2 * day)

  expect(await kept()).toHaveLength(1)
  const stop = watchRetention(service.service, (record) => void service.log.push(record))
  await expect.poll(kept).toEqual([])
  await stop()
  expect(service.log.filter(({ level }) => level === 'warn')).toEqual([])
})

test('logs a store that cannot be written, without ending the service', async () => {
  const { storage } = service.service
  service.service.storage = { ...storage, write: () => Promise.reject(new Error('disk full')) }
  const stop = watchRetention(service.service, (record) => void service.log.push(record))
  await expect
    .poll(() => service.log.filter(({ level }) => level === 'warn').map(({ message }) => message))
    .toEqual(['Error: disk full'])
  await stop()
  service.service.storage = storage
})
