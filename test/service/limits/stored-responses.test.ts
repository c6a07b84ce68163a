import { describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme-with-ada.ts'
import { dataOf, fence } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { geofence, refused, set, usedOf } from './quota-stage.ts'

installHooks()

const create = (name: string, idempotency: string): Promise<Answer> =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
    key: acme.key,
    body: { ...fence, name },
    headers: { 'idempotency-key': idempotency },
  })

describe('responses that are stored for repeats', () => {
  test('count by their bytes; a write whose response does not fit is undone, and a repeat still works', async () => {
    dataOf(await set({ idempotency_mib: 1 }))
    const first = await create('first', 'k1')
    await service.storage.write(
      (db) =>
        db
          .updateTable('idempotency')
          .set({ bytes: 1024 * 1024 - 10 })
          .execute(),
      { org: 0 },
    )
    // What was seen of the quota so far is forgotten with another limit.
    dataOf(await set({ idempotency_mib: 2 }))
    dataOf(await create('second', 'k2'))
    dataOf(await set({ idempotency_mib: 1 }))
    expect(refused(await create('third', 'k3'))).toEqual([409, 'quota_exceeded', 'idempotency_mib', 1])
    expect((await create('first', 'k1')).body).toEqual(first.body)
    expect(await usedOf('geofences')).toBe(2)
    // Without the header nothing is stored.
    dataOf(await geofence())
  })

  test('keep nobody from ending something, and go with the last secret of their key', async () => {
    dataOf(await create('first', 'k1'))
    await service.storage.write(
      (db) =>
        db
          .updateTable('idempotency')
          .set({ bytes: 1024 * 1024 })
          .execute(),
      { org: 0 },
    )
    dataOf(await set({ idempotency_mib: 1 }))
    const path = `/svc/v1/keys`
    const other = dataOf(
      await service.call('POST', path, { body: { name: 'other', org_id: acme.id, scopes: ['all'] } }),
    )
    const asOther = { key: other.key, headers: { 'idempotency-key': 'k2' } }
    const body = { ...fence, name: 'second' }
    const second = () =>
      service.call('POST', `/organization/${acme.id}/create/geo-fence`, { ...asOther, body })
    expect(refused(await second())[1]).toBe('quota_exceeded')
    const { id } = dataOf(await service.call('GET', '/svc/v1/whoami', { key: acme.key }))
    dataOf(
      await service.call('DELETE', `${path}/${id}`, { ...asOther, headers: { 'idempotency-key': 'k3' } }),
    )
    clock.tick(11_000)
    dataOf(await second())
  })
})
