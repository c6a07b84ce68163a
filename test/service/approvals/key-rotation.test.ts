import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { createEngineGateway } from '../../../src/service/approvals/engine-gateway.ts'
import { createAuthenticator } from '../../../src/service/keys/authenticator.ts'
import { ask, decide, show } from '../approver.ts'
import { minute } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'

installHooks()

type Key = { id: string; key: string }

let old: Key
beforeEach(async () => {
  old = await createKey()
})

const createKey = async (): Promise<Key> =>
  dataOf(
    await service.call('POST', '/svc/v1/keys', { body: { name: 'ci', org_id: acme.id, scopes: ['all'] } }),
  )
const rotate = async ({ id }: Key, overlap_s = 0): Promise<Key> =>
  dataOf(await service.call('POST', `/svc/v1/keys/${id}/rotate`, { body: { overlap_s } }))
const revoke = async ({ id }: Key) => dataOf(await service.call('DELETE', `/svc/v1/keys/${id}`))
const newRequest = async ({ key }: Key, more: object = {}) => ask(service, ada, more, key)
const limit = async (key: Key) => refusal(await newRequest(key))[1]
/** As a tool call shows the key. */
const toolsOf = async ({ key }: Key) =>
  createEngineGateway(service.service, (await createAuthenticator(service)(key))!)
const notMe = async (id: string) =>
  dataOf(await decide(service, id, ada.key, { decision: 'deny', not_me: true }))

describe('the requests of a key stay its own after a rotation', () => {
  test('its tools find the request, with its number, and withdraw it, even after a second rotation', async () => {
    const { request_id, number } = dataOf(await newRequest(old, { number: true }))
    const next = await rotate(await rotate(old, 3600), 3600)
    expect(number).toMatch(/^\d\d$/)
    expect(dataOf(await show(service, request_id, next.key)).number).toBe(number)
    const tools = await toolsOf(next)
    expect(await tools.status(request_id)).toMatchObject({ status: 'pending', number })
    await tools.withdraw(request_id)
    expect((await tools.status(request_id)).status).toBe('expired')
  })

  test('the old secret sees the requests of the new one while both work', async () => {
    const next = await rotate(old, 3600)
    const { request_id } = dataOf(await newRequest(next))
    expect(await (await toolsOf(old)).status(request_id)).toMatchObject({ status: 'pending' })
  })

  test('at most three requests are pending for both secrets together', async () => {
    for (let i = 0; i < 2; i++) dataOf(await newRequest(old))
    const next = await rotate(old, 3600)
    dataOf(await newRequest(next))
    expect([await limit(next), await limit(old)]).toEqual(['too_many_pending', 'too_many_pending'])
  })

  test('a mute of either secret applies to the other', async () => {
    await notMe(dataOf(await newRequest(old)).request_id)
    const next = await rotate(old, 3600)
    expect(await limit(next)).toBe('muted')
    clock.tick(20 * minute)
    await notMe(dataOf(await newRequest(next)).request_id)
    expect([await limit(old), await limit(next)]).toEqual(['muted', 'muted'])
  })

  test('a request of an expired secret can no longer be decided', async () => {
    const { request_id } = dataOf(await newRequest(old))
    await rotate(old, 60)
    clock.tick(minute)
    expect(refusal(await decide(service, request_id, ada.key))).toEqual([410, 'expired', []])
  })
})

describe('a key that is created again under a name inherits nothing', () => {
  test.each([
    ['of a key that was revoked', async () => revoke(old)],
    [
      'of a key that was rotated before',
      async () => {
        const next = await rotate(old)
        await revoke(next)
      },
    ],
  ])('%s', async (_, end) => {
    const { request_id } = dataOf(await newRequest(old, { number: true }))
    for (let i = 0; i < 2; i++) dataOf(await newRequest(old))
    await notMe(dataOf(await show(service, request_id)).request_id)
    await end()
    const anew = await createKey()
    expect(dataOf(await show(service, request_id, anew.key)).number).toBeNull()
    await expect((await toolsOf(anew)).status(request_id)).rejects.toMatchObject({ status: 404 })
    expect((await newRequest(anew)).status).toBe(200)
  })
})

test('another key of the organization sees none of it, and has its own count', async () => {
  const { request_id } = dataOf(await newRequest(old, { number: true }))
  await rotate(old)
  expect(dataOf(await show(service, request_id, acme.key)).number).toBeNull()
  for (let i = 0; i < 3; i++) dataOf(await newRequest({ id: '0', key: acme.key }))
})
