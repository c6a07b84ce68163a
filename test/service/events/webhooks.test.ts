import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { watchWebhooks } from '../../../src/service/events/webhook-feed.ts'
import { day, hour, minute } from '../clock.ts'
import { auditOf, createMember, createTenant, fence } from '../fixtures.ts'
import {
  acme,
  addFence,
  call,
  clock,
  createWebhook,
  idOf,
  installHooks,
  receiver,
  service,
  show,
  verify,
} from './acme-with-receiver.ts'
import { accept, startReceiver, type Received } from './receiver.ts'

installHooks()

describe('an event', () => {
  test('arrives soon after the commit, and the reference verifier accepts it', async () => {
    const { secret, webhook_id } = await createWebhook({ types: ['policy'] })
    await addFence()
    await receiver.until(1)
    const [first] = receiver.received as [Received]
    expect(verify(secret, first)).toMatchObject({
      id: first.headers['webhook-id'],
      type: 'policy.updated',
      timestamp: clock.iso(),
      data: { org_id: acme.id, action: 'createGeofence', subject: 'geofence:1' },
    })
    expect(first.body).not.toContain(fence.name)
    await service.delivered()
    expect(await show(webhook_id)).toMatchObject({ state: 'active', waiting: 0, error: null })
  })

  test('is rejected with another secret, another body and an old time stamp', async () => {
    const { secret } = await createWebhook({ types: ['policy'] })
    const other = await createWebhook({ types: ['key'] })
    await addFence()
    await receiver.until(1)
    const [first] = receiver.received as [Received]
    expect(() => verify(other.secret, first)).toThrow('No matching signature')
    expect(() => verify(secret, { ...first, body: first.body.replace('policy', 'member') })).toThrow(
      'No matching signature',
    )
    const late = Number(first.headers['webhook-timestamp']) - 600
    expect(() =>
      new Webhook(secret).verify(first.body, { ...first.headers, 'webhook-timestamp': String(late) }),
    ).toThrow('timestamp')
  })

  test('of another organization, or another type, does not arrive', async () => {
    await createWebhook({ types: ['member.created'] })
    const foreign = await createTenant(service, 'foreign')
    await addFence()
    await createMember(service, foreign.id, 1)
    await createMember(service, acme.id, 2)
    await receiver.until(1)
    await service.delivered()
    expect(receiver.types()).toEqual(['member.created'])
    expect(JSON.parse(receiver.received[0]!.body).data.org_id).toBe(acme.id)
  })

  test('that was refused is sent again under the same id', async () => {
    const { webhook_id } = await createWebhook({ types: ['policy'] })
    receiver.state.answer = (response) => void response.writeHead(500).end()
    await addFence()
    await receiver.until(1)
    await service.delivered()
    expect(await show(webhook_id)).toMatchObject({ state: 'failing', waiting: 1, error: 'it answered 500' })
    receiver.state.answer = accept
    clock.tick(minute)
    await service.delivered()
    expect(new Set(receiver.received.map(idOf)).size).toBe(1)
    expect(receiver.received.length).toBe(2)
    expect(await show(webhook_id)).toMatchObject({ state: 'active', waiting: 0, failing_since: null })
  })

  test('with a signature of each secret while a rotation overlaps', async () => {
    const { secret, webhook_id } = await createWebhook({ types: ['policy'] })
    const rotated = await call('POST', `/${webhook_id}/rotate`, { overlap_s: 3600 })
    expect(rotated.secrets).toBe(2)
    await addFence()
    await receiver.until(1)
    for (const one of [secret, rotated.secret]) expect(verify(one, receiver.received[0]!)).toBeDefined()
    clock.tick(hour)
    await addFence()
    await receiver.until(2)
    expect(verify(rotated.secret, receiver.received[1]!)).toBeDefined()
    expect(() => verify(secret, receiver.received[1]!)).toThrow('No matching signature')
  })
})

describe('a receiver', () => {
  test('that never answers delays no other', async () => {
    receiver.state.answer = () => undefined
    const other = await startReceiver()
    await createWebhook({ types: ['policy'] })
    await createWebhook({ types: ['policy'], url: other.url })
    for (let i = 0; i < 12; i++) await addFence()
    await other.until(12)
    expect(new Set(other.received.map(idOf)).size).toBe(12)
    // As many attempts as one receiver gets at a time, none of which has ended.
    expect(receiver.received.length).toBe(4)
    await other.close()
  })

  test.each([
    ['redirects', 'it answered 302, a redirect, which is not followed'],
    ['cuts the connection', 'it could not be reached: ECONNRESET'],
  ])('that %s gets it again, and no other address does', async (kind, error) => {
    const second = await startReceiver()
    receiver.state.answer = (response) =>
      kind === 'redirects'
        ? void response.writeHead(302, { location: second.url }).end()
        : void response.socket!.destroy()
    const { webhook_id } = await createWebhook({ types: ['policy'] })
    await addFence()
    await receiver.until(1)
    await service.delivered()
    expect(await show(webhook_id)).toMatchObject({ state: 'failing', error })
    expect(second.received).toEqual([])
    await second.close()
  })

  test('that answers without an end has accepted the event', async () => {
    receiver.state.answer = (response) => {
      response.writeHead(200)
      const more = (): void => void (response.writable && response.write('x'.repeat(65_536), more))
      more()
    }
    const { webhook_id } = await createWebhook({ types: ['policy'] })
    await addFence()
    await receiver.until(1)
    await service.delivered()
    expect(await show(webhook_id)).toMatchObject({ state: 'active', waiting: 0 })
  })

  test('that answers 410 stops the webhook, and a replay continues where it stopped', async () => {
    const { webhook_id } = await createWebhook({ types: ['policy'] })
    receiver.state.answer = (response) => void response.writeHead(410).end()
    await addFence()
    await receiver.until(1)
    await service.delivered()
    await addFence()
    expect(await show(webhook_id)).toMatchObject({ state: 'stopped', waiting: 0 })
    expect((await auditOf(service, acme.id)).map(([action]) => action)).toContain('stopWebhook')
    receiver.state.answer = accept
    await call('POST', `/${webhook_id}/replay`, {})
    await receiver.until(3)
    await service.delivered()
    expect(receiver.types()).toEqual(['policy.updated', 'policy.updated', 'policy.updated'])
    expect(new Set(receiver.received.map(idOf)).size).toBe(2)
  })

  test('that fails for three days stops the webhook', async () => {
    const { webhook_id } = await createWebhook({ types: ['policy'] })
    receiver.state.answer = (response) => void response.writeHead(503).end()
    await addFence()
    await receiver.until(1)
    await service.delivered()
    clock.tick(3 * day + 1)
    const stop = watchWebhooks(service.service, () => undefined)
    await expect.poll(async () => await show(webhook_id)).toMatchObject({ state: 'stopped' })
    await stop()
    expect((await auditOf(service, acme.id)).at(-1)!.slice(0, 2)).toEqual([
      'stopWebhook',
      `webhook:${webhook_id}`,
    ])
  })
})
