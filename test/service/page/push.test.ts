import { importJWK, jwtVerify } from 'jose'
import { describe, expect, test } from 'vitest'
import { ask } from '../approver.ts'
import { dataOf, refusal } from '../fixtures.ts'
import { answerTo, begin, cookieOf, createPhone, fromPhone, readInbox } from './phone.ts'
import { decryptPush, type PushService } from './push-service.ts'
import {
  acme,
  ada,
  here,
  installHooks,
  pushService,
  ring,
  service,
  subscribe,
  subscribed,
} from './push-stage.ts'

installHooks()

describe('a push', () => {
  test('names the request and the organization to the subscribed browser, and contains nothing else', async () => {
    const { subscription, own, auth } = here()
    expect((await subscribe(subscription)).status).toBe(200)
    expect(await subscribed()).toBe(true)
    const request_id = await ring({ action: 'Deploy the secret thing', lifetime_s: 90 })
    expect(pushService.received).toHaveLength(1)
    const [{ headers, body, path }] = pushService.received as [PushService['received'][0]]
    expect(path).toBe('/p/1')
    expect(decryptPush(body, own, auth)).toBe(JSON.stringify({ request_id, organization: 'acme' }))
    expect(headers).toMatchObject({ ttl: '90', urgency: 'high', 'content-encoding': 'aes128gcm' })
    expect(body.toString('latin1')).not.toContain(request_id)
  })

  test('is signed for that push service with the key of the subscription', async () => {
    await subscribe(here().subscription)
    await ring()
    const { authorization } = pushService.received[0]!.headers
    const [, token, key] = /^vapid t=([\w.-]+), k=([\w-]{87})$/.exec(authorization!)!
    const { push_key } = dataOf(await fromPhone(service, 'GET', 'session', { cookie: ada.cookie }))
    expect(key).toBe(push_key)
    const point = Buffer.from(key!, 'base64url')
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
    }
    const { payload, protectedHeader } = await jwtVerify(token!, await importJWK(jwk, 'ES256'), {
      audience: pushService.origin,
      currentDate: new Date('2030-01-31T12:00:00.000Z'),
    })
    expect(protectedHeader).toEqual({ typ: 'JWT', alg: 'ES256' })
    expect(payload.sub).toBe('mailto:svc@localhost')
    expect(payload.exp! - Date.parse('2030-01-31T12:00:00.000Z') / 1000).toBeLessThanOrEqual(24 * 60 * 60)
  })

  test('goes to each device of the approver, to its latest subscription, and to nobody else', async () => {
    const bob = await createPhone(service, acme.id, 2)
    await subscribe(here('/ada/old').subscription)
    await subscribe(here('/ada/new').subscription)
    await subscribe(here('/bob').subscription, bob)
    await ring()
    expect(pushService.received.map(({ path }) => path)).toEqual(['/ada/new'])
  })

  test('goes to every phone with the same synced passkey, and a sign-out ends only its own', async () => {
    const challenge = await begin(service)
    const second = cookieOf(
      await fromPhone(service, 'POST', 'session', {
        body: { challenge, response: answerTo(challenge, ada.key) },
      }),
    )
    await subscribe(here('/first').subscription)
    await subscribe(here('/second').subscription, { ...ada, cookie: second })
    await ring()
    expect(pushService.received.map(({ path }) => path).toSorted()).toEqual(['/first', '/second'])
    await fromPhone(service, 'DELETE', 'session', { cookie: second })
    await ring()
    expect(pushService.received.slice(2).map(({ path }) => path)).toEqual(['/first'])
  })

  test.each([404, 410])('that is answered %i is the last one', async (status) => {
    await subscribe(here().subscription)
    pushService.answer.status = status
    await ring()
    expect(await subscribed()).toBe(false)
    await ring()
    expect(pushService.received).toHaveLength(1)
  })

  test('that fails leaves the request and the subscription, and no trace of the address in the log', async () => {
    await subscribe(here().subscription)
    pushService.answer.status = 500
    const request_id = await ring()
    expect((await readInbox(service, ada)).requests).toMatchObject([{ request_id }])
    expect(await subscribed()).toBe(true)
    await pushService.close()
    await ring()
    const warned = service.log.filter(({ level }) => level === 'warn').map(({ message }) => message)
    expect(warned).toEqual([
      expect.stringContaining(`push to device ${ada.device}: its push service answered 500; next attempt at`),
      expect.stringContaining(`push to device ${ada.device}: ECONNREFUSED; next attempt at`),
    ])
    expect(warned.join()).not.toContain(pushService.origin)
  })

  test('does not follow redirects', async () => {
    await subscribe(here('/first').subscription)
    Object.assign(pushService.answer, { status: 307, location: `${pushService.origin}/second` })
    await ring()
    expect(pushService.received.map(({ path }) => path)).toEqual(['/first'])
  })

  test('about a request is sent neither to a revoked device nor after a sign-out', async () => {
    const tablet = await createPhone(service, acme.id, 2)
    await subscribe(here('/ada').subscription)
    await subscribe(here('/tablet').subscription, tablet)
    await service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${tablet.device}`)
    await service.delivered()
    // The revocation itself, which may be news to its owner.
    expect(pushService.received.map(({ path }) => path)).toEqual(['/tablet'])
    await ask(service, tablet)
    await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })
    await ring()
    expect(pushService.received).toHaveLength(1)
  })
})

const rows = async () => dataOf(await service.call('GET', '/svc/v1/outbox?channel=push'))

describe('a push in the outbox', () => {
  test('has an id that identifies a repeat, and is retried when the push service asks to wait', async () => {
    await subscribe(here().subscription)
    Object.assign(pushService.answer, { status: 429, headers: { 'retry-after': '30' } })
    await ring()
    const [row] = await rows()
    expect(row).toMatchObject({
      kind: 'approval',
      state: 'queued',
      attempts: 1,
      recipient: `device ${ada.device}`,
    })
    expect(row.next_at).toBe('2030-01-31T12:00:30.000Z')
    Object.assign(pushService.answer, { status: 201, headers: {} })
    dataOf(await service.call('POST', `/svc/v1/outbox/${row.message_id}/retry`, { body: {} }))
    await service.delivered()
    expect(await rows()).toMatchObject([{ state: 'sent' }])
    expect(pushService.received.map(({ headers }) => headers.topic)).toEqual([row.message_id, row.message_id])
  })

  test('about a request that has ended is not sent', async () => {
    await subscribe(here().subscription)
    Object.assign(pushService.answer, { status: 503 })
    const request_id = await ring()
    dataOf(await service.call('POST', `/svc/v1/approvals/${request_id}/withdraw`, { body: {} }))
    const [row] = await rows()
    dataOf(await service.call('POST', `/svc/v1/outbox/${row.message_id}/retry`, { body: {} }))
    await service.delivered()
    expect(await rows()).toMatchObject([
      { state: 'failed', error: 'the request has ended, or the device was removed' },
    ])
    expect(pushService.received).toHaveLength(1)
  })

  test('is stored with its request or not at all', async () => {
    await subscribe(here().subscription)
    for (let i = 0; i < 3; i++) await ring()
    expect(refusal(await ask(service, ada, {}, acme.key))[0]).toBe(429)
    expect(await rows()).toHaveLength(3)
  })

  test('tests a device with notifications', async () => {
    const { subscription, own, auth } = here()
    await subscribe(subscription)
    const body = { channel: 'push', to: String(ada.device) }
    const { org_id } = dataOf(await service.call('POST', '/svc/v1/delivery/test', { body }))
    await service.delivered()
    expect(org_id).toBe(acme.id)
    expect(await rows()).toMatchObject([{ kind: 'test', state: 'sent' }])
    expect(decryptPush(pushService.received[0]!.body, own, auth)).toBe('{"test":true}')
  })
})
