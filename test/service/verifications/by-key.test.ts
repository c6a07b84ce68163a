import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { show } from '../approver.ts'
import { minute } from '../clock.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { approve, post, save, token, validate, verify } from './verification.ts'

installHooks()

// Two applications of one organization verify the same person at the same time.

type Key = { id: string; key: string }

const createKey = async (name: string): Promise<Key> =>
  dataOf(
    await service.call('POST', '/svc/v1/keys', { body: { name, org_id: acme.id, scopes: ['ask', 'app'] } }),
  )
const prompt = async (key: string): Promise<string> =>
  dataOf(await verify({ org_id: acme.id }, { key })).request_id
const collect = (key: string, more: object = {}) => validate({ org_id: acme.id, ...more }, { key })
const results = (key: string, more: object = {}) =>
  post(
    '/biometric-geo-fence-auth-results',
    {
      user_id: ada.id,
      org_id: acme.id,
      biometric_result: 'PASS',
      geo_fence_result: 'PASS',
      timestamp: clock.iso(),
      device_info: { platform: 'android', device_id: 'x' },
      ...more,
    },
    { key },
  )

let x: Key
let y: Key
beforeEach(async () => {
  ;[x, y] = [await createKey('x'), await createKey('y')]
})

describe('a verification belongs to the key that started it:', () => {
  test('an approval for one application is never one for the other, whichever prompted first', async () => {
    for (const [first, second] of [
      [x, y],
      [y, x],
    ] as const) {
      const prompted = await prompt(first.key)
      await prompt(second.key)
      await approve(prompted)
      expect(refusal(await collect(second.key))).toEqual([409, 'pending', []])
      expect(refusal(await collect(second.key, { request_id: prompted }))).toEqual([404, 'not_found', []])
      expect(dataOf(await collect(first.key)).request_id).toBe(prompted)
      clock.tick(11 * minute)
    }
  })

  test('an operator key and a key of the organization are two keys', async () => {
    const prompted = await prompt(service.operatorKey)
    await approve(prompted)
    expect(refusal(await collect(x.key))).toEqual([404, 'not_found', []])
    expect(refusal(await collect(x.key, { request_id: prompted }))).toEqual([404, 'not_found', []])
    expect(dataOf(await collect(service.operatorKey)).request_id).toBe(prompted)
    const own = await prompt(x.key)
    await approve(own)
    expect(refusal(await collect(service.operatorKey, { request_id: own }))).toEqual([404, 'not_found', []])
  })

  test('both secrets of a rotated key collect what either started, and a new prompt withdraws the last', async () => {
    const older = await prompt(x.key)
    const next: Key = dataOf(
      await service.call('POST', `/svc/v1/keys/${x.id}/rotate`, { body: { overlap_s: 600 } }),
    )
    const newer = await prompt(next.key)
    expect(dataOf(await show(service, older)).detail).toBe('replaced by a newer prompt')
    await approve(newer)
    expect(refusal(await collect(y.key))).toEqual([404, 'not_found', []])
    expect(dataOf(await collect(x.key)).request_id).toBe(newer)
  })

  test('a new key with the name of a revoked one collects none of its results', async () => {
    const prompted = await prompt(x.key)
    await approve(prompted)
    dataOf(await service.call('DELETE', `/svc/v1/keys/${x.id}`))
    const again = await createKey('x')
    expect(refusal(await collect(again.key, { request_id: prompted }))).toEqual([404, 'not_found', []])
    expect(refusal(await results(again.key, { request_id: prompted }))).toEqual([404, 'not_found', []])
  })

  test('results of one application do not affect the prompt and the token of the other', async () => {
    const prompted = await prompt(x.key)
    const claimed = dataOf(await token({ user_id: ada.id, org_id: acme.id }, { key: x.key }))
    for (const request_id of [undefined, prompted, claimed.request_id])
      expect(refusal(await results(y.key, { request_id }))).toEqual([404, 'not_found', []])
    expect(dataOf(await save(claimed.auth_token, { key: x.key })).request_id).toBe(claimed.request_id)
    await approve(prompted)
    expect(dataOf(await collect(x.key)).request_id).toBe(prompted)
  })

  test('the prompt of one application withdraws none of the other', async () => {
    const prompted = await prompt(x.key)
    for (let i = 0; i < 3; i++) await prompt(y.key)
    expect((await approve(prompted)).status).toBe(200)
  })
})
