import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { watchWebhooks } from '../../../src/service/events/webhook-feed.ts'
import { day, hour, minute } from '../clock.ts'
import { auditOf, createMember, createTenant, dataOf, fence, refusal } from '../fixtures.ts'
import {
  acme,
  call,
  clock,
  createWebhook,
  installHooks,
  receiver,
  service,
  show,
} from './acme-with-receiver.ts'
import { accept, startReceiver, type Received } from './receiver.ts'

installHooks()

const addFence = async (org = acme.id): Promise<void> => {
  dataOf(await service.call('POST', `/organization/${org}/create/geo-fence`, { body: fence }))
}

const idOf = ({ body }: Received): string => (JSON.parse(body) as { id: string }).id

/** The time stamp of the service is that of its clock, and the verifier reads the real one. */
const verify = (secret: string, { headers, body }: Received): unknown => {
  const signed = Number(headers['webhook-timestamp'])
  expect(signed).toBe(Math.floor(Date.parse(clock.iso()) / 1000))
  const real = Date.now
  Date.now = () => signed * 1000
  try {
    return new Webhook(secret).verify(body, headers)
  } finally {
    Date.now = real
  }
}

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

describe('svc webhook', () => {
  test('replays events since a time under their ids', async () => {
    const { webhook_id } = await createWebhook({ types: ['policy'] })
    await addFence()
    clock.tick(hour)
    const since = clock.iso()
    await addFence()
    await receiver.until(2)
    await service.delivered()
    await call('POST', `/${webhook_id}/replay`, { from: since })
    await receiver.until(3)
    await service.delivered()
    expect(idOf(receiver.received[2]!)).toBe(idOf(receiver.received[1]!))
    expect(receiver.received.length).toBe(3)
  })

  test('sends a test event and returns the answer, without characters that a terminal obeys', async () => {
    const { webhook_id, secret } = await createWebhook()
    receiver.state.answer = (response) => void response.writeHead(418).end('\u001B[31mteapot')
    const answered = await call('POST', `/${webhook_id}/test`, {})
    expect(answered).toMatchObject({
      delivered: false,
      status: 418,
      error: null,
      event: { type: 'webhook.test' },
    })
    expect(answered.answer).toContain('teapot')
    expect(answered.answer).not.toContain('\u001B')
    expect(verify(secret, receiver.received[0]!)).toMatchObject({ type: 'webhook.test' })
  })

  test('keeps the address and the secret encrypted, and shows the secret once', async () => {
    const { webhook_id, secret } = await createWebhook()
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(JSON.stringify(await call('GET', ''))).not.toContain(secret)
    const rows = await service.storage.read((db) => db.selectFrom('webhooks').selectAll().execute())
    expect(rows.map((row) => row.webhook_id)).toEqual([webhook_id])
    expect(JSON.stringify(rows)).not.toContain(receiver.url)
  })

  test('does not send to a webhook whose row another program gave to another organization', async () => {
    const { webhook_id } = await createWebhook({ types: ['member'] })
    const foreign = await createTenant(service, 'foreign')
    await service.runSql(`update webhooks set org_id = ${foreign.id}, cursor_seq = 0`)
    await createMember(service, foreign.id, 1)
    await expect
      .poll(() => service.storage.read((db) => db.selectFrom('webhooks').select('error').execute()))
      .toEqual([{ error: 'another program changed the webhook in the store' }])
    expect([webhook_id, receiver.received]).toEqual([webhook_id, []])
  })

  test.each([
    ['http://hooks.example.com/svc', 'url must be an https URL without a user name or password'],
    ['https://user:pw@hooks.example.com/', 'url must be an https URL without a user name or password'],
    ['https://10.0.0.1/', 'url must be a URL on the public internet'],
    ['https://[::ffff:192.168.0.1]/', 'url must be a URL on the public internet'],
    ['https://0xa.0.0.1/', 'url must be a URL on the public internet'],
    ['hooks', 'url must be a URL'],
  ])('refuses the address %s', async (url, message) => {
    const { body } = await service.call('POST', '/svc/v1/webhooks', { body: { org_id: acme.id, url } })
    expect(body.message).toBe(message)
  })

  test('refuses a webhook too many, and a replay without a time', async () => {
    const { webhook_id } = await createWebhook()
    for (let i = 1; i < 20; i++) await createWebhook()
    const more = await service.call('POST', '/svc/v1/webhooks', {
      body: { org_id: acme.id, url: receiver.url },
    })
    expect(refusal(more).slice(0, 2)).toEqual([409, 'too_many_webhooks'])
    const replay = await service.call('POST', `/svc/v1/webhooks/${webhook_id}/replay`, { body: {} })
    expect(refusal(replay)).toEqual([422, 'invalid_field', ['from']])
  })

  test('deletes a webhook with its organization', async () => {
    await createWebhook()
    dataOf(await service.call('DELETE', `/organization/${acme.id}/delete`))
    expect(await call('GET', '')).toEqual([])
  })
})
