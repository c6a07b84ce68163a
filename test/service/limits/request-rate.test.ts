import { beforeEach, describe, expect, test } from 'vitest'
import { answerTo, begin, cookieOf, createPhone, fromPhone } from '../page/phone.ts'
import { acme, clock, installHooks, service } from '../acme.ts'
import { second } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

installHooks()

// One request per second of a key and two of the organization, with bursts of 40 and 80.

const get = (key = acme.key): Promise<Answer> => service.call('GET', `/organization/${acme.id}`, { key })
const set = async (body: object): Promise<void> =>
  void dataOf(await service.call('POST', `/svc/v1/organizations/${acme.id}/limits`, { body }))
const create = (): Promise<Answer> =>
  service.call('POST', `/organization/${acme.id}/create/auth-code`, { key: acme.key, body: { label: 'x' } })
/** How many of `count` requests succeeded. */
const answered = async (count: number, key?: string): Promise<number> => {
  const answers = await Promise.all(Array.from({ length: count }, () => get(key)))
  return answers.filter(({ status }) => status === 200).length
}
const anotherKey = async (scopes = ['read']): Promise<{ id: string; key: string }> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name: 'b', org_id: acme.id, scopes } }))
/** Fifty objects in one call, which is refused. */
const changeRules = (key: string): Promise<Answer> => {
  const rules = Array.from({ length: 50 }, (_, n) => ({
    name: `rule-${n}`,
    match: { type: 'request', operation: ['user delete'] },
    who: ['@nobody'],
  }))
  return service.call('POST', `/svc/v1/organizations/${acme.id}/rule-changes`, { key, body: { rules } })
}

beforeEach(() => set({ key_requests_per_second: 1, requests_per_second: 2 }))

describe('requests in a second', () => {
  test('are counted, and every response shows how many are left', async () => {
    const { headers } = await get()
    expect(headers['ratelimit-policy']).toBe('"key";q=40;w=40, "organization";q=80;w=40')
    expect(headers.ratelimit).toBe('"key";r=39;t=1, "organization";r=79;t=1')
    expect((await get('svc_org_00000000_wrong')).headers.ratelimit).toBeUndefined()
    const missing = await service.call('GET', '/organization/99/users', { key: acme.key })
    expect([missing.status, missing.headers.ratelimit]).toEqual([
      404,
      '"key";r=38;t=2, "organization";r=78;t=1',
    ])
  })

  test('beyond those of a key are 429 and do nothing, until there are some again', async () => {
    expect(await answered(42)).toBe(40)
    const { body, headers } = await create()
    expect(body).toMatchObject({
      message: 'This key is limited to 1 request per second, with bursts of 40',
      data: { code: 'rate_limited', quota: 'key_requests_per_second', limit: 1 },
    })
    expect(body.data.hint).toContain(`svc org limits set --org ${acme.id} --key-requests-per-second N`)
    expect(headers).toMatchObject({
      'retry-after': '1',
      ratelimit: '"key";r=0;t=40, "organization";r=40;t=20',
    })
    clock.tick(second)
    expect(await answered(2)).toBe(1)
    clock.tick(3 * second)
    expect((await create()).status).toBe(200)
    expect(await answered(4)).toBe(2)
    clock.tick(-60 * second)
    expect(await answered(1)).toBe(0)
    clock.tick(3600 * second)
    expect(await answered(45)).toBe(40)
  })

  test('of all keys of the organization count together', async () => {
    const keys = [await anotherKey()]
    await set({ key_requests_per_second: 2 })
    expect(await answered(60)).toBe(60)
    // And ten that each key has of its own.
    expect(await answered(40, keys[0]!.key)).toBe(30)
    expect((await get(keys[0]!.key)).body.message).toBe(
      'All keys of this organization together are limited to 2 requests per second, with bursts of 80',
    )
  })

  test('of both secrets of a rotated key count together', async () => {
    const { id, key } = await anotherKey()
    const next = dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { body: { overlap_s: 60 } }))
    expect([await answered(25, key), await answered(25, next.key)]).toEqual([25, 15])
  })

  test("of another organization and of the operator are not touched, and the operator's are not limited", async () => {
    const other = await createTenant(service, 'other')
    await answered(45)
    expect((await service.call('GET', `/organization/${other.id}/users`, { key: other.key })).status).toBe(
      200,
    )
    expect(await answered(100, service.operatorKey)).toBe(100)
    expect((await get(service.operatorKey)).headers.ratelimit).toBeUndefined()
  })

  test('of a session at the approver page are fewer than those of a key, and leave the others of the device alone', async () => {
    const { cookie, key } = await createPhone(service, acme.id, 2)
    const challenge = await begin(service)
    const body = { challenge, response: answerTo(challenge, key) }
    const cookies = [cookie, cookieOf(await fromPhone(service, 'POST', 'session', { body }))]
    const read = (of = 0) => fromPhone(service, 'GET', 'session', { cookie: cookies[of]! })
    await set({ key_requests_per_second: 250, requests_per_second: 1000 })
    expect((await read()).headers).toMatchObject({
      'ratelimit-policy': '"device";q=800;w=40, "organization";q=40000;w=40',
      ratelimit: expect.stringMatching(/^"device";r=799;t=1, /),
    })
    await set({ key_requests_per_second: 1 })
    const answers = await Promise.all(Array.from({ length: 42 }, () => read()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(40)
    expect((await read()).body).toMatchObject({
      message: 'This device is limited to 1 request per second, with bursts of 40',
      data: { code: 'rate_limited', hint: 'Try again in 1 s' },
    })
    expect((await read(1)).status).toBe(200)
  })

  test('of a call that changes many objects are as many, also if it is refused', async () => {
    const refused = await changeRules(acme.key)
    expect(refused.status).toBe(422)
    const next = await get()
    expect([next.status, next.headers['retry-after'], next.body.data.hint]).toEqual([
      429,
      '11',
      expect.stringContaining('Try again in 11 s. '),
    ])
    expect(next.headers.ratelimit).toBe('"key";r=0;t=40, "organization";r=30;t=25')
    clock.tick(11 * second)
    expect(await answered(2)).toBe(1)
  })

  test('of other keys never keep a key from being revoked', async () => {
    await set({ key_requests_per_second: 100 })
    const leaked = await anotherKey(['rules'])
    const flood = () => changeRules(leaked.key)
    expect([(await flood()).status, (await flood()).status, (await flood()).status]).toEqual([422, 422, 429])
    const revoked = await service.call('DELETE', `/svc/v1/keys/${leaked.id}`, { key: acme.key })
    expect(revoked.status).toBe(200)
    for (let n = 0; n < 9; n++) expect((await get()).status).toBe(200)
    expect((await get()).status).toBe(429)
  })

  test('follow a change of the limits', async () => {
    expect(await answered(45)).toBe(40)
    await set({ key_requests_per_second: 4, requests_per_second: 8 })
    clock.tick(second)
    expect(await answered(25)).toBe(4)
  })
})
