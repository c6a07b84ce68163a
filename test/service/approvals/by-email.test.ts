import { describe, expect, test } from 'vitest'
import { acme, ada, service } from '../acme-with-ada.ts'
import { createApprover, decide, show } from '../approver.ts'
import { contentsOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService } from '../harness.ts'
import { globex, installHooks, later, post, refusedOutright } from './notification.ts'

installHooks()

const policy = async (fields: object) =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: fields } }))

const notifyByEmail = (more: object = {}, key?: string) =>
  post(
    '/send-auth-request-by-email',
    { email: 'user1@acme.example', action: 'Sign in to payroll', ...more },
    key,
  )

describe('POST /send-auth-request-by-email', () => {
  test('requests an approval, notifies, and sends a link to the request by e-mail', async () => {
    const { status, body } = await notifyByEmail({ reason: 'It is payday', email: 'USER1@acme.example' })
    expect([status, body.message]).toEqual([200, 'Approval requested'])
    const { request_id, message_id } = body.data
    expect(body.data).toEqual({ request_id, message_id, number: null, expires_at: later(5) })
    expect(service.notified).toMatchObject([{ request_id, user_id: Number(ada.id) }])
    expect(dataOf(await show(service, request_id, acme.key))).toMatchObject({
      action: 'Sign in to payroll',
      reason: 'It is payday',
      approver_mobile: ada.mobile,
      requester: 'of acme',
    })
    const [letter] = await service.messages()
    expect(letter).toMatchObject({
      org_id: acme.id,
      channel: 'email',
      kind: 'auth_request',
      to: 'user1@acme.example',
      subject: 'acme: approval request',
      expires_at: later(5),
    })
    expect(letter!.text).toContain(`http://127.0.0.1:8080/approver#request=${request_id}`)
    expect(letter!.text).toContain('until 2030-01-31 12:05 UTC')
    dataOf(await decide(service, request_id, ada.key))
  })

  test('shows the number to the requester; the e-mail contains neither it nor the request', async () => {
    const { number, expires_at } = dataOf(
      await notifyByEmail({ number: true, reason: 'payday', lifetime_s: 60 }),
    )
    expect(number).toMatch(/^\d\d$/)
    expect(expires_at).toBe(later(1))
    const [letter] = await service.messages()
    expect(letter!.text.replace(/#request=\S+|until .*UTC|127.0.0.1:8080/g, '')).not.toMatch(/\d/)
    expect(letter!.text).not.toMatch(/payroll|payday/)
  })

  test('requires the factors and the number of the policy', async () => {
    await policy({ require_number: true, device_trust: true, factors: ['device'] })
    const { request_id, number } = dataOf(await notifyByEmail())
    expect(number).toMatch(/^\d\d$/)
    expect(dataOf(await show(service, request_id)).factors).toEqual(['biometric', 'device'])
    expect(await notifyByEmail({ factors: ['location'] })).toMatchObject({ status: 422 })
  })

  test('asks nobody if several users have the address', async () => {
    await createMember(service, acme.id, 2, { email: 'User1@acme.example' })
    expect(await refusedOutright(() => notifyByEmail())).toEqual([409, 'several_users', []])
  })

  test('requires the organization from an operator if several have the address', async () => {
    const { operatorKey } = service
    expect(dataOf(await notifyByEmail({}, operatorKey)).request_id).toMatch(/^apr_/)
    await createApprover(service, globex.id, 1)
    const answer = await notifyByEmail({}, operatorKey)
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['org_id']])
    expect(answer.body.data.hint).toContain(`one of ${acme.id}, ${globex.id}`)
    const { request_id } = dataOf(await notifyByEmail({ org_id: globex.id }, operatorKey))
    expect(dataOf(await show(service, request_id)).org_id).toBe(globex.id)
  })

  test('has one error code for an unknown address, no device, another organization and an inactive user', async () => {
    await createMember(service, acme.id, 2)
    const held = await createApprover(service, acme.id, 3)
    await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`, { body: {} })
    await createApprover(service, globex.id, 4)
    for (const n of [2, 3, 4, 5]) {
      const answer = () => notifyByEmail({ email: `user${n}@acme.example` })
      expect(await refusedOutright(answer)).toEqual([409, 'approver_not_enrolled', []])
    }
  })

  test('asks nobody if e-mail is not configured', async () => {
    const silent = await startTestService({ dev: true, channels: ['sms'] })
    const org = await createTenant(silent, 'acme')
    await createApprover(silent, org.id, 1)
    const body = { email: 'user1@acme.example', action: 'x' }
    const answer = await silent.call('POST', '/send-auth-request-by-email', { key: org.key, body })
    expect(refusal(answer)).toEqual([409, 'delivery_not_configured', []])
    expect([silent.notified, (await contentsOf(silent)).approvals]).toEqual([[], []])
    await silent.close()
  })

  test('has the limits of every prompt', async () => {
    for (let i = 0; i < 3; i++) dataOf(await notifyByEmail())
    expect(refusal(await notifyByEmail())).toEqual([429, 'too_many_pending', []])
    expect(await service.messages()).toHaveLength(3)
  })

  test.each([
    [{ email: 'ada' }, 'email'],
    [{ email: undefined }, 'email'],
    [{ action: undefined }, 'action'],
    [{ action: 'a\u200bb' }, 'action'],
    [{ lifetime_s: 0 }, 'lifetime_s'],
    [{ factors: ['location'] }, 'factors'],
    [{ approvers: ['+12025550101'] }, 'approvers'],
  ])('refuses %j and names the field', async (more, field) => {
    expect(await refusedOutright(() => notifyByEmail(more))).toEqual([422, 'invalid_field', [field]])
  })
})
