import { beforeEach, describe, expect, test } from 'vitest'
import { acme, clock, installHooks, service } from '../acme.ts'
import { second } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

installHooks()

const get = (key = acme.key): Promise<Answer> =>
  service.call('GET', `/organization/${acme.id}/geo-fences`, { key })
const set = async (body: object): Promise<void> =>
  void dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/limits`, { body }))
const statuses = async (count: number, key?: string): Promise<number[]> => {
  const all: number[] = []
  for (let i = 0; i < count; i++) all.push((await get(key)).status)
  return all
}
const anotherKey = async (): Promise<{ id: string; key: string }> =>
  dataOf(
    await service.call('POST', '/svc/v1/keys', { body: { name: 'b', org_id: acme.id, scopes: ['read'] } }),
  )

beforeEach(() => set({ key_requests_per_second: 3, requests_per_second: 5 }))

describe('requests in a second', () => {
  test('are counted, and every answer says how many are left', async () => {
    const { headers } = await get()
    expect(headers['ratelimit-policy']).toBe('"key";q=3;w=1, "organization";q=5;w=1')
    expect(headers.ratelimit).toBe('"key";r=2;t=1, "organization";r=4;t=1')
    expect((await get('svc_org_00000000_wrong')).headers.ratelimit).toBeUndefined()
    const missing = await service.call('GET', '/organization/99/users', { key: acme.key })
    expect([missing.status, missing.headers.ratelimit]).toEqual([
      404,
      '"key";r=1;t=1, "organization";r=3;t=1',
    ])
  })

  test('beyond those of a key are 429 and do nothing, until the second is over', async () => {
    expect(await statuses(4)).toEqual([200, 200, 200, 429])
    const { body, headers } = await service.call('POST', `/organization/${acme.id}/create/auth-code`, {
      key: acme.key,
      body: { label: 'x' },
    })
    expect(body).toMatchObject({
      message: 'This key may make 3 requests in a second',
      data: { code: 'rate_limited', quota: 'key_requests_per_second', limit: 3 },
    })
    expect(body.data.hint).toContain(`svc org limits set --org ${acme.id} --key-requests-per-second N`)
    expect(headers).toMatchObject({ 'retry-after': '1', ratelimit: '"key";r=0;t=1, "organization";r=2;t=1' })
    clock.tick(second)
    expect(
      dataOf(await service.call('GET', `/organization/${acme.id}/get-org-auth-codes`, { key: acme.key })),
    ).toEqual([])
  })

  test('of all keys of the organization count together', async () => {
    const { key } = await anotherKey()
    expect([...(await statuses(3)), ...(await statuses(3, key))]).toEqual([200, 200, 200, 200, 200, 429])
    expect((await get(key)).body.message).toBe(
      'All keys of this organization together may make 5 requests in a second',
    )
  })

  test('of both secrets of a rotated key count together', async () => {
    const { id, key } = await anotherKey()
    const next = dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { body: { overlap_s: 60 } }))
    expect([...(await statuses(2, key)), ...(await statuses(2, next.key))]).toEqual([200, 200, 200, 429])
  })

  test("of another organization and of the operator are not touched, and the operator's are not limited", async () => {
    const other = await createTenant(service, 'other')
    await statuses(4)
    expect((await service.call('GET', `/organization/${other.id}/users`, { key: other.key })).status).toBe(
      200,
    )
    expect(await statuses(20, service.operatorKey)).not.toContain(429)
    expect((await get(service.operatorKey)).headers.ratelimit).toBeUndefined()
  })

  test('follow a change of the limits at once', async () => {
    expect(await statuses(4)).toContain(429)
    await set({ key_requests_per_second: 4 })
    expect(await statuses(2)).toEqual([200, 429])
  })
})
