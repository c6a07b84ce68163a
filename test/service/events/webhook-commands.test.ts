import { describe, expect, test } from 'vitest'
import { hour } from '../clock.ts'
import { createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
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
} from './acme-with-receiver.ts'

installHooks()

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
    ['http://user:pw@127.0.0.1:9/', 'url must be an https URL without a user name or password'],
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
