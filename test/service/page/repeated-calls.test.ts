import { describe, expect, test } from 'vitest'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { answerTo, begin, cookieOf, fromPage, fromPhone } from './phone.ts'
import { acme, ada, addTablet, installHooks, service } from './visit.ts'
import { request, statusOf } from './denials.ts'

// A browser sends a signed call of the page again by itself. It has the same Idempotency-Key.

installHooks()

const headers = { ...fromPage, 'idempotency-key': 'page-1' }

const signedMove = async (device: string) => {
  const target = { cookie: ada.cookie, body: { move: 'remove' } }
  const { challenge } = dataOf(await fromPhone(service, 'POST', `devices/${device}/challenge`, target))
  return { move: 'remove', challenge, response: answerTo(challenge, ada.key) }
}

const create = (name: string) =>
  service.call('POST', `/organization/${acme.id}/create/geo-fence`, {
    key: acme.key,
    body: { name, latitude: 1, longitude: 1, radius: 100, is_active: 1 },
    headers: { 'idempotency-key': name },
  })

describe('a signed call that is sent again', () => {
  test('is answered as the first time: a device is removed', async () => {
    const tablet = await addTablet()
    const body = await signedMove(tablet.device)
    const send = () =>
      fromPhone(service, 'POST', `devices/${tablet.device}/move`, { cookie: ada.cookie, body, headers })
    const first = dataOf(await send())
    expect(first.state).toBe('revoked')
    const again = await send()
    expect(dataOf(again)).toEqual(first)
    expect(again.headers['idempotent-replayed']).toBe('true')
    const removals = (await auditOf(service, acme.id)).filter(([action]) => action === 'moveDevice')
    expect(removals).toHaveLength(1)
  })

  test('is answered as the first time: requests are denied', async () => {
    const request_ids = [await request(), await request()]
    const asked = { cookie: ada.cookie, body: { request_ids } }
    const { challenge } = dataOf(await fromPhone(service, 'POST', 'denials/challenge', asked))
    const body = { request_ids, challenge, response: answerTo(challenge, ada.key) }
    const send = () => fromPhone(service, 'POST', 'denials', { cookie: ada.cookie, body, headers })
    expect(dataOf(await send())).toEqual({ denied: request_ids })
    expect(dataOf(await send())).toEqual({ denied: request_ids })
    expect((await statusOf(request_ids[0]!)).status).toBe('denied')
  })

  test('gives no second session: the answer says that the first one had it', async () => {
    const challenge = await begin(service)
    const body = { challenge, response: answerTo(challenge, ada.key) }
    const send = (more: Record<string, string> = headers) =>
      fromPhone(service, 'POST', 'session', { body, headers: more })
    const first = await send()
    expect(cookieOf(first)).not.toBe('')
    const again = await send()
    expect(cookieOf(again)).toBe('')
    expect(dataOf(again)).toEqual({ ...dataOf(first), secret_already_shown: true })
    expect(refusal(await send({ ...headers, 'idempotency-key': 'of somebody else' }))[0]).toBe(410)
  })

  test('is possible although the quota for repeated answers is used up', async () => {
    const tablet = await addTablet()
    dataOf(await create('first'))
    const bytes = 1024 ** 3
    await service.storage.write((db) => db.updateTable('idempotency').set({ bytes }).execute(), { org: 0 })
    // What was seen of the quota so far is forgotten with another limit.
    const limits = `/svc/v1/organizations/${acme.id}/limits`
    dataOf(await service.call('POST', limits, { body: { idempotency_mib: 1 } }))
    expect(refusal(await create('second'))[1]).toBe('quota_exceeded')
    const body = await signedMove(tablet.device)
    const answer = await fromPhone(service, 'POST', `devices/${tablet.device}/move`, {
      cookie: ada.cookie,
      body,
      headers,
    })
    expect(dataOf(answer).state).toBe('revoked')
  })
})
