import { beforeEach, describe, expect, test } from 'vitest'
import { assert } from '../../../src/client/software-authenticator.ts'
import { challengeOf } from '../../../src/receipt/context.ts'
import { ask, post } from '../approver.ts'
import { minute, second } from '../clock.ts'
import { contentsOf, createTenant, dataOf, fence, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { cookieFor, moveDevice } from '../devices/moves.ts'
import { createPhone, enrollPhone, fromPhone, type Phone, readInbox, site } from './phone.ts'
import { acme, ada, clock, installHooks, service } from './visit.ts'

installHooks()

let bob: Phone
beforeEach(async () => {
  bob = await createPhone(service, acme.id, 2)
})

const request = async (more: object = {}, phone = ada) => dataOf(await ask(service, phone, more, acme.key))
const inbox = (query = '', phone = ada) => readInbox(service, phone, query)
type Pending = { request_id: string; contexts: { approve: string; deny: string } }
const sign = ({ contexts }: Pending, decision: 'approve' | 'deny', { key }: Phone) =>
  assert(key, {
    challenge: challengeOf(new Uint8Array(Buffer.from(contexts[decision], 'base64url'))),
    ...site,
  })
const decide = (pending: Pending, decision: 'approve' | 'deny', more: object = {}, phone = ada) =>
  post(service, pending.request_id, { decision, response: sign(pending, decision, phone), ...more })

const addFence = async (): Promise<void> =>
  dataOf(await service.call('POST', `/organization/${acme.id}/create/geo-fence`, { body: fence }))
const pending = async (): Promise<Pending> => {
  await request()
  return (await inbox()).requests[0]
}

const user = (move: string) => `/organization/${acme.id}/user/${ada.user}/${move}`

const wants = async (phone: Phone): Promise<boolean> =>
  dataOf(await fromPhone(service, 'GET', 'session', { cookie: phone.cookie })).wants_location

describe('an inbox', () => {
  test('contains the pending requests of its approver, oldest first, and never the number', async () => {
    const first = await request({ action: 'Deploy 4.2', reason: 'Outage', number: true, requester: 'CI' })
    const second = await request({ lifetime_s: 60 })
    await request({}, bob)
    clock.tick(1500)
    const { requests } = await inbox()
    expect(requests).toEqual([
      {
        request_id: first.request_id,
        action: 'Deploy 4.2',
        reason: 'Outage',
        requester: 'CI',
        verified_as: 'key "of acme"',
        origin: expect.objectContaining({ claimed_name: 'CI', via: 'api' }),
        first_time: true,
        subject: expect.objectContaining({ summary: 'Deploy 4.2', fields: [] }),
        factors: ['biometric'],
        deny_check: 'verification',
        conditions: [{ factor: 'biometric', required: true, options: [], total: 0, outlook: 'pass' }],
        requested_at: first.requested_at,
        expires_at: first.expires_at,
        expires_in_ms: 298_500,
        number_required: true,
        number_missed: false,
        contexts: { approve: expect.any(String), deny: expect.any(String) },
        lines: [expect.objectContaining({ group: null, need: 1 })],
        earlier_denial: null,
      },
      expect.objectContaining({
        request_id: second.request_id,
        expires_in_ms: 58_500,
        number_required: false,
        number_missed: false,
      }),
    ])
    expect(first.number).toMatch(/^\d\d$/)
    for (const context of Object.values((requests[0] as Pending).contexts))
      expect(JSON.parse(Buffer.from(context, 'base64url').toString())).not.toHaveProperty('number')
  })

  test('contains what a decision signs', async () => {
    await request({ number: false })
    const { requests } = await inbox()
    expect(dataOf(await decide(requests[0], 'approve'))).toMatchObject({ status: 'approved', number: null })
    expect((await inbox()).requests).toEqual([])
  })

  test('is returned immediately if it differs from what was seen', async () => {
    const { mark } = await inbox()
    expect((await inbox('?wait_s=30&seen=other')).mark).toBe(mark)
    await request()
    const changed = await inbox(`?wait_s=30&seen=${mark}`)
    expect(changed.requests).toHaveLength(1)
    expect(changed.mark).not.toBe(mark)
  })

  const changes: [string, (pending: Pending) => Promise<unknown>][] = [
    ['a request comes', () => request()],
    ['one is approved', (pending) => decide(pending, 'approve')],
    ['one is denied on another device', (pending) => decide(pending, 'deny', { not_me: true })],
    [
      'one is withdrawn',
      ({ request_id }) => service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} }),
    ],
    ['one lapses', async () => clock.tick(5 * minute)],
  ]
  test.each(changes)('wakes a waiting page when %s', async (_, change) => {
    await request()
    const { mark, requests } = await inbox()
    const started = performance.now()
    const waiting = inbox(`?wait_s=30&seen=${mark}`)
    await change(requests[0])
    expect((await waiting).mark).not.toBe(mark)
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  test('releases a waiting page after the time, on a disconnect, and when the service stops', async () => {
    const { mark } = await inbox()
    expect((await inbox(`?wait_s=1&seen=${mark}`)).mark).toBe(mark)
    const going = new AbortController()
    const gone = fromPhone(service, 'GET', `sessions?wait_s=30&seen=${mark}`, {
      cookie: ada.cookie,
      signal: going.signal,
    })
    const staying = inbox(`?wait_s=30&seen=${mark}`)
    going.abort()
    await gone.catch(() => undefined)
    service.service.signals.stop()
    expect((await staying).mark).toBe(mark)
  })

  const ends: [string, () => Promise<unknown>][] = [
    [
      'its device is revoked',
      () => service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`),
    ],
    ['it signs out in another tab', () => fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })],
    ['its user is put on hold', () => service.call('POST', user('pending'), { body: {} })],
    [
      'its user is removed',
      () =>
        service.call('POST', '/organization/remove/user', { body: { org_id: acme.id, user_id: ada.user } }),
    ],
    ['its user is deleted', () => service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`)],
    ['its organization is deleted', () => service.call('DELETE', `/organization/${acme.id}/delete`)],
  ]
  test.each(ends)('is closed immediately to a waiting phone when %s', async (_, end) => {
    const { mark } = await inbox()
    const waiting = fromPhone(service, 'GET', `sessions?wait_s=30&seen=${mark}`, { cookie: ada.cookie })
    const started = performance.now()
    expect((await end()) as Answer).toMatchObject({ status: 200 })
    expect(dataOf(await waiting).sessions).toEqual([])
    expect(performance.now() - started).toBeLessThan(15_000)
  })

  test('stays open to the other phone of a person who loses one', async () => {
    const other = await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
    dataOf(await moveDevice(service, ada, other.device))
    other.cookie = await cookieFor(service, other.key)
    const { mark } = await inbox('', other)
    const waiting = inbox(`?wait_s=30&seen=${mark}`, other)
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${ada.device}`)
    // It learns that a device was lost, and goes on waiting.
    const { mark: changed, requests } = await waiting
    expect(requests).toEqual([])
    const again = inbox(`?wait_s=30&seen=${changed}`, other)
    await request()
    expect((await again).requests).toHaveLength(1)
  })

  test('contains nothing from another organization of the person', async () => {
    const other = await createTenant(service, 'other')
    const there = await createPhone(service, other.id, 1)
    expect(there.user).toBe(ada.user)
    dataOf(await ask(service, there, {}, other.key))
    expect((await inbox()).requests).toEqual([])
    expect((await inbox('', there)).requests).toHaveLength(1)
  })
})

describe('a location', () => {
  const { latitude, longitude } = fence
  const here = { latitude, longitude, accuracy_m: 20, age_ms: 5 * second }
  beforeEach(addFence)

  test('inside a geofence approves, and the receipt shows the distance but never the location', async () => {
    const record = dataOf(await decide(await pending(), 'approve', { location: here }))
    const claims = record.attestation.claims
    expect(claims.factors).toContainEqual(
      expect.objectContaining({
        factor: 'location',
        policy: 'required',
        result: 'PASS',
        observed: { organization: { distance_m: 0, accuracy_m: 20 } },
      }),
    )
  })

  test.each<[string, object | undefined, string]>([
    ['is missing', undefined, 'no location was provided'],
    ['is elsewhere', { ...here, latitude: 48.137154 }, 'from Headquarters'],
    ['is too vague', { ...here, accuracy_m: 1000 }, 'accuracy 1 km'],
    ['is stale', { ...here, age_ms: 6 * minute }, 'is 360 s old'],
    ['has no age that a clock knows', { ...here, age_ms: 1e300 }, 'is 86400 s old'],
    ['is vaguer than the Earth is large', { ...here, accuracy_m: 1e300 }, 'no valid accuracy'],
  ])('that %s denies and says why', async (_, location, reason) => {
    const answer = await decide(await pending(), 'approve', { location })
    expect(refusal(answer)).toEqual([403, 'denied', []])
    expect(answer.body.message).toContain(reason)
  })

  test.each([
    ['latitude', { latitude: 91 }],
    ['longitude', { longitude: '13.405' }],
    ['accuracy_m', { accuracy_m: -1 }],
    ['age_ms', { age_ms: -5 }],
  ])('with an absurd %s is refused and decides nothing', async (field, wrong) => {
    const one = await pending()
    const answer = await decide(one, 'approve', { location: { ...here, ...wrong } })
    expect(refusal(answer)).toEqual([422, 'invalid_field', [`location.${field}`]])
    expect((await inbox()).requests).toHaveLength(1)
  })

  test('is not required to deny', async () => {
    expect(dataOf(await decide(await pending(), 'deny')).status).toBe('denied')
  })

  test('stays out of the store and the log', async () => {
    const exact = { ...here, latitude: 52.5204213, longitude: 13.4049877 }
    dataOf(await decide(await pending(), 'approve', { location: exact }))
    const kept = JSON.stringify([await contentsOf(service), service.log])
    expect(kept).not.toMatch(/52\.5204|13\.4049/)
  })

  test('is requested by the page if a geofence of the organization or the user is active', async () => {
    expect(await wants(ada)).toBe(true)
    const off = { body: { is_active: 0 } }
    const [{ id }] = dataOf(await service.call('GET', `/organization/${acme.id}/geo-fences`))
    dataOf(await service.call('PUT', `/organization/${acme.id}/update/geo-fence/${id}`, off))
    expect(await wants(ada)).toBe(false)
    const { is_active: _, ...place } = fence
    const body = { geofences: [{ ...place, enabled: true }] }
    dataOf(await service.call('PUT', `/user/${ada.user}/geofences/update`, { body }))
    expect([await wants(ada), await wants(bob)]).toEqual([true, false])
  })
})
