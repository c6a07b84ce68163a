import { describe, expect, test } from 'vitest'
import { acme, ada, installHooks, service } from '../acme-with-ada.ts'
import { createApprover } from '../approver.ts'
import { dataOf } from '../fixtures.ts'
import { createMobileUser } from '../mobile-user.ts'
import { holdCalls } from '../rule-fixture.ts'

installHooks()

/** The data of the request that holds a call. */
const dataOfHeld = async (...call: Parameters<typeof service.call>) => {
  const { status, body } = await service.call(...call)
  expect([status, body.data.code]).toEqual([403, 'approval_required'])
  return dataOf(await service.call('GET', `/svc/v1/approvals/${body.data.request.request_id}`)).subject.data
}

describe('whoever decides about a call reads', () => {
  test('the person of a new key, and the host of a webhook', async () => {
    const grace = await createApprover(service, acme.id, 2)
    const body = { url: 'https://hooks.example/services/secret', org_id: acme.id, types: ['approval'] }
    const { webhook_id } = dataOf(await service.call('POST', '/svc/v1/webhooks', { body }))
    await holdCalls(service, acme.id, ['key create', 'webhook delete'], [ada.id])
    const key = { name: 'ci', org_id: acme.id, scopes: ['ask'], owner_user_id: grace.id }
    expect((await dataOfHeld('POST', '/svc/v1/keys', { body: key, key: acme.key })).body.user).toContain(
      `user ${grace.id}`,
    )
    const held = await dataOfHeld('DELETE', `/svc/v1/webhooks/${webhook_id}`, { key: acme.key })
    expect(held.deletions).toEqual(['hooks.example'])
  })

  test('the person whose account changes, whom the call names by number', async () => {
    await createMobileUser(service, { key: acme.key })
    await createApprover(service, acme.id, 2)
    await holdCalls(service, acme.id, ['mobile update-profile'], [ada.id])
    const body = { mobile: '+12025550101', email: 'new@acme.example' }
    const held = await dataOfHeld('POST', '/update-profile', { body, key: acme.key })
    expect(held.body.user).toContain(`user ${ada.id}`)
  })

  test('of a policy only what changes, because the rest stays', async () => {
    const path = `/organization/${acme.id}/update`
    const first = { policy: { device_trust: true, ip_allow: ['127.0.0.0/8'] } }
    const known = dataOf(await service.call('PUT', path, { body: first, key: acme.key })).policy
    expect(known).toEqual({ device_trust: true, ip_allow: ['127.0.0.0/8'] })
    await createApprover(service, acme.id, 2)
    await holdCalls(service, acme.id, ['org update'], [ada.id])
    const policy = { deny_check: 'presence', ip_allow: ['10.0.0.0/8'] }
    const data = await dataOfHeld('PUT', path, { body: { policy }, key: acme.key })
    expect(data).toMatchObject({ body: { policy }, before: { policy: { ip_allow: ['127.0.0.0/8'] } } })
    expect(data.before.policy).not.toHaveProperty('device_trust')
  })
})
