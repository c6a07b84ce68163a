import { describe, expect, test } from 'vitest'
import { publicLookup } from '../../../src/service/delivery/public-address.ts'
import { contentsOf, refusal } from '../fixtures.ts'
import { fromPage, fromPhone } from './phone.ts'
import { ada, here, installHooks, open, service, subscribe, subscribed } from './push-stage.ts'

installHooks()

describe('a subscription', () => {
  test('is stored so that the store alone reveals neither address nor secret', async () => {
    const { subscription } = here('/very-secret')
    await subscribe(subscription)
    const kept = JSON.stringify(await contentsOf(service))
    for (const secret of ['very-secret', subscription.keys.auth, subscription.keys.p256dh])
      expect(kept).not.toContain(secret)
  })

  test.each([
    ['keys.auth', { auth: 'AAAA' }],
    ['keys.p256dh', { p256dh: 'AAAA' }],
    ['keys.p256dh', { p256dh: Buffer.from([4, ...Array(64).fill(1)]).toString('base64url') }],
  ])('needs %s as browsers make it', async (field, keys) => {
    const { subscription } = here()
    const answer = await subscribe({ ...subscription, keys: { ...subscription.keys, ...keys } })
    expect(refusal(answer)).toEqual([422, 'invalid_field', [field]])
    expect(await subscribed()).toBe(false)
  })

  test('can be ended again, after an answer that was lost', async () => {
    await subscribe(here().subscription)
    for (const _ of ['first', 'again'])
      expect((await fromPhone(service, 'DELETE', 'push', { cookie: ada.cookie })).status).toBe(200)
    expect(await subscribed()).toBe(false)
  })

  test('is refused if the person signs out before it has arrived, so that the phone stays quiet', async () => {
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const send = (text: string): Promise<void> => writer.write(new TextEncoder().encode(text))
    const headers = { ...fromPage, cookie: ada.cookie, 'content-type': 'application/json' }
    const pending = service.app.request('http://localhost:8080/svc/v1/approver/push', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    } as RequestInit)
    const { endpoint, keys } = here().subscription
    await send(JSON.stringify({ endpoint, keys }).slice(0, 20))
    expect((await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })).status).toBe(200)
    await send(JSON.stringify({ endpoint, keys }).slice(20))
    await writer.close()
    expect(await (await pending).json()).toMatchObject({ data: { code: 'session_over' } })
    expect((await contentsOf(service)).device_push).toEqual([])
  })

  test.each([
    'http://push.example.com/1',
    'https://localhost/1',
    'https://127.0.0.1/1',
    'https://[::1]/1',
    'https://[::ffff:10.0.0.1]/1',
    'https://10.0.0.1/1',
    'https://169.254.169.254/latest/meta-data',
    'https://0x7f.1/',
    'https://user:pass@push.example.com/1',
    'file:///etc/passwd',
    'nonsense',
  ])('is refused where the service would be sent to %s', async (endpoint) => {
    await service.close()
    await open(false)
    const answer = await subscribe({ ...here().subscription, endpoint })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['endpoint']])
  })

  test('with a host name is resolved and checked each time', async () => {
    const problem = await new Promise((resolve) =>
      publicLookup()('localhost', {}, (error) => resolve(error?.message)),
    )
    expect(problem).toBe('the host is in a private network')
  })
})
