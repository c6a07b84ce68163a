import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { ask, createApprover, decide } from '../approver.ts'
import { minute, second } from '../clock.ts'
import { createTenant, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { newRequest, withdraw } from './requested.ts'

installHooks()

const limitOf = (answer: Answer) => [answer.status, answer.body.data.code, answer.headers['retry-after']]

const createKey = async (name: string): Promise<{ id: string; key: string }> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask'] } }))
const createKeys = async (count: number): Promise<string[]> => {
  const keys: string[] = []
  for (let i = 0; i < count; i++) keys.push((await createKey(`app ${i}`)).key)
  return keys
}

/** So many requests, each withdrawn at once, a second apart. */
const askTimes = async (count: number, key: string): Promise<void> => {
  for (let i = 0; i < count; i++) {
    await withdraw(await newRequest({}, key), key)
    clock.tick(second)
  }
}

describe('an approver is not overloaded:', () => {
  test('three requests of one key can be pending', async () => {
    for (let i = 0; i < 3; i++) await newRequest()
    clock.tick(minute)
    const answer = await ask(service, ada, {}, acme.key)
    expect(limitOf(answer)).toEqual([429, 'too_many_pending', '240'])
    expect(answer.body.data.hint).toContain('the first expires in 4 min')
    dataOf(await ask(service, ada))
  })

  test('a key can ask five times in ten minutes, and takes nothing from another key', async () => {
    await askTimes(5, acme.key)
    const answer = await ask(service, ada, {}, acme.key)
    expect(limitOf(answer)).toEqual([429, 'too_many_rings', '595'])
    expect(answer.body.message).toBe('This key sent this approver 5 requests in the last 10 minutes')
    expect(answer.body.data.hint).toBe(
      'Try again in 9 min 55 s, or once the approver has approved one of them',
    )
    expect(service.notified).toHaveLength(5)
    await askTimes(5, service.operatorKey)
    expect(limitOf(await ask(service, ada))).toEqual([429, 'too_many_rings', '595'])
    clock.tick(590 * second)
    await askTimes(1, acme.key)
  })

  test('the more of fifteen requests a key has made, the more it leaves to other keys', async () => {
    const [one, two, three, four, five, six] = await createKeys(6)
    await askTimes(5, one!)
    await askTimes(5, two!)
    for (const [key, times, all] of [
      [three!, 3, 13],
      [four!, 1, 14],
      [five!, 1, 15],
    ] as const) {
      await askTimes(times, key)
      const again = await ask(service, ada, {}, key)
      expect(limitOf(again).slice(0, 2)).toEqual([429, 'too_many_rings'])
      expect(again.body.message).toBe(
        `Several keys together sent this approver ${all} requests in the last 10 minutes`,
      )
    }
    const refused = await ask(service, ada, {}, six)
    expect(limitOf(refused)).toEqual([429, 'too_many_rings', '585'])
    clock.tick(585 * second)
    await askTimes(1, six!)
  })

  test('thirty new keys can ask fifteen times', async () => {
    const answers = await Promise.all(
      (await createKeys(30)).flatMap((key) => [ask(service, ada, {}, key), ask(service, ada, {}, key)]),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(15)
    expect(service.notified).toHaveLength(15)
  })

  test('a rotated key has one count, whichever secret asks', async () => {
    const { id, key } = await createKey('rotated')
    await askTimes(3, key)
    const next = dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { body: { overlap_s: 600 } }))
    await askTimes(2, next.key)
    for (const secret of [key, next.key])
      expect(limitOf(await ask(service, ada, {}, secret)).slice(0, 2)).toEqual([429, 'too_many_rings'])
  })

  test('an approval resets the count of its key; a denial does not, nor does an approval for another key', async () => {
    const [other] = await createKeys(1)
    await askTimes(5, other!)
    await askTimes(4, acme.key)
    dataOf(await decide(service, await newRequest(), ada.key))
    clock.tick(second)
    expect(limitOf(await ask(service, ada, {}, other)).slice(0, 2)).toEqual([429, 'too_many_rings'])
    await askTimes(4, acme.key)
    dataOf(await decide(service, await newRequest(), ada.key, { decision: 'deny' }))
    expect(limitOf(await ask(service, ada, {}, acme.key))).toEqual([429, 'too_many_rings', '596'])
  })

  test('an approval by one person resets nothing of another whom the request asked, too', async () => {
    const bob = await createApprover(service, acme.id, 2)
    for (let i = 0; i < 6; i++) {
      const either = { approvers: [`${bob.mobile},${ada.mobile}`] }
      dataOf(await decide(service, await newRequest(either), ada.key))
      clock.tick(second)
    }
    expect(service.notified.filter(({ user_id }) => String(user_id) === bob.id)).toHaveLength(5)
    expect(service.notified).toHaveLength(11)
  })

  test('500 requests at once notify three times', async () => {
    const answers = await Promise.all(Array.from({ length: 500 }, () => ask(service, ada, {}, acme.key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(497)
    expect(service.notified).toHaveLength(3)
  })

  test('another approver and another organization have their own count', async () => {
    for (let i = 0; i < 3; i++) await newRequest()
    const bob = await createApprover(service, acme.id, 2)
    expect((await ask(service, bob, {}, acme.key)).status).toBe(200)
    const other = await createTenant(service, 'other')
    await createApprover(service, other.id, 1)
    expect((await ask(service, ada, {}, other.key)).status).toBe(200)
  })
})
