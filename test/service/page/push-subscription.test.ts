import { describe, expect, test } from 'vitest'
import { publicLookup } from '../../../src/service/delivery/public-address.ts'
import { contentsOf, refusal } from '../fixtures.ts'
import { here, installHooks, open, service, subscribe, subscribed } from './push-stage.ts'

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
      publicLookup('localhost', {}, (error) => resolve(error?.message)),
    )
    expect(problem).toBe('the host is in a private network')
  })
})
