import { describe, expect, test } from 'vitest'
import { acme, ada, clock, installHooks, service } from '../acme-with-ada.ts'
import { counted, decide, post, signed } from '../approver.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { newRequest, shown } from './decided.ts'

// A browser or a proxy sends a call again by itself when the connection ends before the answer.

installHooks()

const approving = (id: string, count: number, more: object = {}) => counted(service, ada.key, count, id, more)
const uses = async () => (await auditOf(service, acme.id)).map(([, , changes]) => changes)

describe('a decision that is sent again, to the byte', () => {
  test('is answered with the approval that it made, also by a key that counts', async () => {
    const { request_id } = await newRequest()
    const body = await approving(request_id, 7)
    const first = dataOf(await post(service, request_id, body))
    expect(first.status).toBe('approved')
    const again = await post(service, request_id, body)
    expect([again.status, dataOf(again)]).toEqual([200, first])
    expect((await uses()).slice(-2)).toEqual([['status', 'approved'], ['repeated']])
  })

  test.each<[string, { note?: string; not_me?: true }]>([
    ['a denial', {}],
    ['a denial with a note', { note: 'Not today' }],
    ['a report', { not_me: true }],
  ])('is answered with the denial that it made: %s', async (_, more) => {
    const { request_id } = await newRequest()
    const response = await signed(service, request_id, 'deny', ada.key, { note: more.note })
    const body = { decision: 'deny', ...more, response }
    const first = dataOf(await post(service, request_id, body))
    expect(dataOf(await post(service, request_id, body))).toEqual(first)
    expect(first.status).toBe('denied')
  })

  test('is answered with the refusal of the rules', async () => {
    const { request_id } = await newRequest()
    const geofences = [{ name: 'Office', latitude: 48.1, longitude: 11.5, radius: 200, enabled: true }]
    dataOf(await service.call('PUT', `/user/${ada.id}/geofences/update`, { body: { geofences } }))
    const body = await approving(request_id, 3)
    const first = await post(service, request_id, body)
    expect(refusal(first)).toEqual([403, 'denied', []])
    expect((await post(service, request_id, body)).body).toEqual(first.body)
  })

  test('does not count a wrong number twice, nor end a request by it', async () => {
    const { request_id, number } = await newRequest({ number: true })
    const wrong = number === '10' ? '11' : '10'
    // A synced passkey, whose counter is always 0.
    const response = await signed(service, request_id, 'approve', ada.key)
    const body = { decision: 'approve', number: wrong, response }
    for (let n = 0; n < 3; n++)
      expect(refusal(await post(service, request_id, body))).toEqual([422, 'wrong_number', ['number']])
    expect((await shown(request_id)).status).toBe('pending')
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
  })

  test('is answered with the denial after two wrong numbers', async () => {
    const { request_id, number } = await newRequest({ number: true })
    const wrong = number === '10' ? '11' : '10'
    await decide(service, request_id, ada.key, { decision: 'approve', number: wrong })
    const body = await approving(request_id, 5, { number: wrong })
    const messages = [await post(service, request_id, body), await post(service, request_id, body)].map(
      ({ status, body: { message } }) => [status, message],
    )
    const denied = [403, 'Denied: a wrong number was typed twice']
    expect(messages).toEqual([denied, denied])
  })

  test('counts once of many at the same time, and each is answered with it', async () => {
    const { request_id } = await newRequest()
    const body = await approving(request_id, 9)
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(service, request_id, body)))
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200))
    const made = (await uses()).filter((changes) => changes.includes('approved'))
    expect(made).toHaveLength(1)
  })

  test('says nothing of what happened later, because a receipt holds the same signature', async () => {
    const { request_id, subject } = await newRequest()
    const body = await approving(request_id, 2)
    const first = dataOf(await post(service, request_id, body))
    clock.tick(minute)
    const use = { body: { digest: subject.digest }, key: acme.key }
    dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/consume`, use))
    expect((await shown(request_id)).used_at).not.toBeNull()
    expect(dataOf(await post(service, request_id, body))).toEqual(first)
  })

  test('is answered ten times in ten minutes', async () => {
    const { request_id } = await newRequest()
    const body = await approving(request_id, 2)
    for (let n = 0; n < 11; n++) dataOf(await post(service, request_id, body))
    expect(refusal(await post(service, request_id, body))[0]).toBe(429)
    clock.tick(10 * minute)
    expect((await post(service, request_id, body)).status).toBe(200)
  })
})

describe('another decision about a request that was decided', () => {
  test('is refused: another signature, another field, another choice, another device', async () => {
    const { request_id } = await newRequest()
    const [body, other] = [await approving(request_id, 7), await approving(request_id, 8)]
    const deny = await signed(service, request_id, 'deny', ada.key)
    dataOf(await post(service, request_id, body))
    expect(refusal(await post(service, request_id, other))).toEqual([409, 'already_approved', []])
    const location = { latitude: 1, longitude: 1, accuracy_m: 1, age_ms: 0 }
    expect(refusal(await post(service, request_id, { ...body, location }))[1]).toBe('assertion_refused')
    expect(refusal(await post(service, request_id, { decision: 'deny', response: deny }))[0]).toBe(403)
    expect((await shown(request_id)).status).toBe('approved')
  })

  test('is not the same decision about another request', async () => {
    const [one, other] = [await newRequest(), await newRequest()]
    const body = await approving(one.request_id, 4)
    dataOf(await post(service, one.request_id, body))
    expect(refusal(await post(service, other.request_id, body))[1]).toBe('assertion_refused')
  })
})
