import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, service } from '../acme-with-ada.ts'
import { ask, createApprover, decide, show } from '../approver.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { globex, installHooks, later, post, refusedOutright } from './notification.ts'

installHooks()

describe('POST /send/app-auth/notification', () => {
  let grace: { id: string; mobile_e164: string }
  beforeEach(async () => {
    grace = await createMember(service, acme.id, 2, { first_name: 'Grace', last_name: 'Hopper' })
  })
  const notifyByApp = (more: object = {}, key?: string) =>
    post(
      '/send/app-auth/notification',
      { from_mobile: grace.mobile_e164, to_mobile: ada.mobile, action: 'Open the safe', ...more },
      key,
    )

  test('notifies the one and names the other, as the caller claims', async () => {
    const { status, body } = await notifyByApp({ number: true, reason: 'Inventory' })
    expect([status, body.message]).toEqual([200, 'Approval requested'])
    const { request_id, number } = body.data
    const requester = 'Grace Hopper (+12025550102)'
    expect(body.data).toEqual({
      request_id,
      number: expect.stringMatching(/^\d\d$/),
      expires_at: later(5),
    })
    expect(service.notified).toMatchObject([{ request_id, user_id: Number(ada.id) }])
    dataOf(await decide(service, request_id, ada.key, { decision: 'approve', number }))
    const record = dataOf(await show(service, request_id, acme.key))
    expect(record).toMatchObject({
      requester,
      reason: 'Inventory',
      approver_mobile: ada.mobile,
      status: 'approved',
    })
    expect(record.attestation.claims.aud).toBe(requester)
    expect(await service.messages()).toEqual([])
  })

  test('refuses a sender who is unknown, not active, or in another organization', async () => {
    await createMember(service, globex.id, 3)
    const held = await createMember(service, acme.id, 4)
    await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`, { body: {} })
    for (const n of [3, 4, 5]) {
      const answer = () => notifyByApp({ from_mobile: `+1202555010${n}` })
      expect(await refusedOutright(answer)).toEqual([409, 'sender_not_active', []])
    }
  })

  test('refuses a receiver without a device, or in another organization', async () => {
    await createApprover(service, globex.id, 3)
    await createMember(service, acme.id, 4)
    for (const n of [3, 4, 5]) {
      const answer = () => notifyByApp({ to_mobile: `+1202555010${n}` })
      expect(await refusedOutright(answer)).toEqual([409, 'approver_not_enrolled', []])
    }
    expect(refusal(await notifyByApp({ org_id: globex.id }))).toEqual([404, 'not_found', []])
  })

  test.each([
    [{ from_mobile: '2025550102' }, 'from_mobile'],
    [{ to_mobile: '+999123456' }, 'to_mobile'],
    [{ to_mobile: '+1 (202) 555-0102' }, 'to_mobile'],
    [{ action: '' }, 'action'],
    [{ requester: 'The boss' }, 'requester'],
  ])('refuses %j and names the field', async (more, field) => {
    expect(await refusedOutright(() => notifyByApp(more))).toEqual([422, 'invalid_field', [field]])
  })

  test('shares its limits with all other requests to this phone', async () => {
    for (let i = 0; i < 2; i++) dataOf(await notifyByApp())
    dataOf(await ask(service, ada, {}, acme.key))
    expect(refusal(await notifyByApp())).toEqual([429, 'too_many_pending', []])
  })
})
