import { describe, expect, test } from 'vitest'
import { ask, decide, post, signed } from '../approver.ts'
import { minute } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { create, createConsented, everything, installation, signIn } from '../mcp/terminal-stage.ts'
import type { Phone } from '../page/phone.ts'
import { at } from '../rule-fixture.ts'
import {
  acme,
  ada,
  asks,
  bob,
  breakGlass,
  clock,
  dave,
  grace,
  installHooks,
  service,
} from './break-glass-stage.ts'

installHooks()

const mobile = (n: number): string => `+1202555010${n}`
const askFor = (people: string, key: string, more: object = {}): Promise<Answer> =>
  ask(service, { mobile: people }, more, key)

/** So many requests, each withdrawn at once. */
const askTimes = async (count: number, people: string, key: string): Promise<void> => {
  for (let i = 0; i < count; i++) {
    const { request_id } = dataOf(await askFor(people, key))
    dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { key, body: {} }))
  }
}

const createKey = async (name: string, by?: string): Promise<string> => {
  const body = { name, org_id: acme.id, scopes: ['ask'] }
  return dataOf(await service.call('POST', '/svc/v1/keys', { key: by, body })).key
}
const terminalOf = async (phone: Phone, letter: string): Promise<string> =>
  (await signIn(phone, { id: installation(letter), scope: 'ask' })).access_token

const long = (key: string): Promise<Answer> => {
  const body = { action: 'restore', lifetime_s: 86_400 }
  return service.call('POST', '/svc/v1/approvals', { key, body })
}

/** No key is left anything to ask this person. */
const exhaust = async (people: string): Promise<void> => {
  for (const name of ['one', 'two']) await askTimes(5, people, await createKey(name))
  for (const name of ['three', 'four', 'five', 'six', 'seven'])
    await askTimes(1, people, await createKey(name))
}

describe('a part of what an approver can be asked is left for others than', () => {
  test('the keys that one key created, directly or not', async () => {
    for (const times of [5, 3]) await askTimes(times, mobile(2), await createKey(`of ${times}`, acme.key))
    for (const key of [acme.key, await createKey('three', acme.key)])
      expect(refusal(await askFor(mobile(2), key))[1]).toBe('too_many_rings')
    await askTimes(4, mobile(2), await createKey('other'))
  })

  test('the keys below one that a person confirmed', async () => {
    const { management_token } = await signIn(grace, { scope: everything })
    const key = await createConsented(grace, management_token!, ['ask', 'keys'])
    const other = await terminalOf(grace, 'b')
    await askTimes(5, mobile(2), await createKey('below', key))
    await askTimes(3, mobile(2), other)
    expect(refusal(await askFor(mobile(2), await createKey('second', key)))[1]).toBe('too_many_rings')
    await askTimes(4, mobile(2), asks)
  })

  test('the sign-ins of one person, also of long requests', async () => {
    const rule = { name: 'long', match: { type: 'text' }, who: ['@dba'], lifetime_s: 86_400 }
    dataOf(await service.call('POST', at(acme.id, 'rules'), { body: rule }))
    const keys = [asks, await terminalOf(ada, 'b'), await terminalOf(ada, 'c')]
    for (const [key, times] of [
      [keys[0]!, 7],
      [keys[1]!, 3],
    ] as const)
      for (let i = 0; i < times; i++) {
        dataOf(await long(key))
        clock.tick(3 * minute)
      }
    clock.tick(10 * minute)
    for (const key of keys.slice(1)) expect(refusal(await long(key))[1]).toBe('too_many_pending')
    const other = await createKey('other')
    for (let i = 0; i < 5; i++) {
      dataOf(await long(other))
      clock.tick(3 * minute)
    }
  })
})

describe('no limit of others keeps a person from', () => {
  test('what only they consent to', async () => {
    await exhaust(mobile(5))
    const { management_token } = await signIn(grace)
    await createConsented(grace, management_token!, ['ask'])
    for (let i = 0; i < 3; i++)
      expect(refusal(await create(management_token!, {}, { name: `ci ${i}` }))[1]).toBe('approval_required')
    expect(refusal(await create(management_token!))[1]).toBe('too_many_pending')
  })

  test('breaking the glass, which counts for nothing else', async () => {
    await exhaust(mobile(4))
    await askTimes(5, mobile(1), asks)
    const request = dataOf(await breakGlass())
    expect(service.notified.filter(({ request_id }) => request_id === request.request_id)).toHaveLength(2)
    dataOf(await decide(service, request.request_id, dave.key))
    expect(refusal(await askFor(mobile(4), await createKey('other')))[1]).toBe('too_many_rings')
  })
})

test('a report mutes every sign-in of the person, and nobody else', async () => {
  const second = await terminalOf(ada, 'b')
  const { request_id } = dataOf(await askFor(mobile(2), asks))
  const response = await signed(service, request_id, 'deny', bob.key)
  dataOf(await post(service, request_id, { decision: 'deny', not_me: true, response }))
  for (const key of [asks, second]) expect(refusal(await askFor(mobile(2), key))[1]).toBe('muted')
  dataOf(await askFor(mobile(3), second))
  dataOf(await askFor(mobile(2), acme.key))
})
