import { beforeEach, describe, expect, test } from 'vitest'
import { acme, ada, clock, service } from './acme.ts'
import { ask, createApprover, decide, show } from './approver.ts'
import { minute } from './clock.ts'
import {
  auditOf,
  contentsOf,
  createMember,
  createTenant,
  dataOf,
  refusal,
  refusedWithoutTrace,
} from './fixtures.ts'
import { startTestService, type Answer } from './harness.ts'

let globex: { id: number; key: string }
beforeEach(async () => {
  globex = await createTenant(service, 'globex')
})

const post = (path: string, body: object, key = acme.key): Promise<Answer> =>
  service.call('POST', path, { key, body })
const later = (minutes: number): string => new Date(Date.parse(clock.iso()) + minutes * minute).toISOString()
const policy = async (fields: object) =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy: fields } }))

/** Says no, everything is as it was, and no phone rang. */
const refusedOutright = async (answer: () => Promise<Answer>) => {
  const said = await refusedWithoutTrace(service, answer)
  expect(service.rung).toEqual([])
  return said
}

const notifyGlobal = (more: object = {}, key?: string) =>
  post(
    '/send/global/notification',
    { mobile: '+12025550199', type: 'notice', message: 'The door is open.', ...more },
    key,
  )

const notifyByEmail = (more: object = {}, key?: string) =>
  post(
    '/send-auth-request-by-email',
    { email: 'user1@acme.example', action: 'Sign in to payroll', ...more },
    key,
  )

describe('POST /send/global/notification', () => {
  test.each(['alert', 'notice'])('puts the text of an %s into the outbox', async (type) => {
    const { status, body } = await notifyGlobal({ type, title: 'Door', mobile: '+1 202-555-0199' })
    expect([status, body.status, body.message]).toEqual([200, 'success', 'Accepted'])
    expect(body.data).toEqual({
      message_id: expect.stringMatching(/^msg_/),
      channel: 'sms',
      state: 'queued',
      expires_at: null,
      sends_left: 4,
      next_send_at: clock.iso(),
    })
    expect(await service.messages()).toEqual([
      { org_id: acme.id, channel: 'sms', kind: type, to: '+12025550199', text: 'Door\nThe door is open.' },
    ])
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'sendGlobalNotification',
      `message:${body.data.message_id}`,
      [type],
    ])
  })

  test('sends a code as /wp/send/sms does, and counts it with those', async () => {
    const mobile = '+12025550199'
    const answer = await notifyGlobal({ type: 'otp', message: undefined })
    expect(dataOf(answer)).toMatchObject({ channel: 'sms', state: 'queued', expires_at: later(10) })
    const [message] = await service.messages()
    expect(message).toMatchObject({
      kind: 'otp',
      to: mobile,
      text: expect.stringMatching(/^Your code is \d{6}\./),
    })
    expect(JSON.stringify(answer.body)).not.toContain(/\d{6}/.exec(message!.text)![0])
    for (let i = 0; i < 4; i++) dataOf(await post('/wp/send/sms', { mobile }))
    expect(refusal(await notifyGlobal({ type: 'otp', message: undefined }))).toEqual([
      429,
      'too_many_sends',
      [],
    ])
  })

  test('answers alike for a number that somebody has and one that nobody has', async () => {
    for (const type of ['notice', 'otp'] as const) {
      const message = type === 'otp' ? undefined : 'x'
      const [known, unknown] = [
        dataOf(await notifyGlobal({ type, message, mobile: ada.mobile })),
        dataOf(await notifyGlobal({ type, message })),
      ]
      expect({ ...known, message_id: '' }).toEqual({ ...unknown, message_id: '' })
    }
  })

  test('sends five of a type to a number in ten minutes, also of many at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => notifyGlobal()))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([
      ...Array(5).fill(200),
      ...Array(3).fill(429),
    ])
    expect(await service.messages()).toHaveLength(5)
    const over = await notifyGlobal()
    expect([...refusal(over), over.headers['retry-after']]).toEqual([429, 'too_many_sends', [], '600'])
    for (const more of [{ type: 'alert' }, { mobile: '+12025550198' }])
      expect((await notifyGlobal(more)).status).toBe(200)
    expect((await notifyGlobal({}, globex.key)).status).toBe(200)
    clock.tick(10 * minute)
    expect((await notifyGlobal()).status).toBe(200)
  })

  test.each([
    [{ mobile: '2025550199' }, 'mobile'],
    [{ mobile: '+999123456' }, 'mobile'],
    [{ mobile: undefined }, 'mobile'],
    [{ type: 'spam' }, 'type'],
    [{ type: undefined }, 'type'],
    [{ message: undefined }, 'message'],
    [{ message: 'a\u202eb' }, 'message'],
    [{ message: ' ' }, 'message'],
    [{ type: 'otp' }, 'message'],
    [{ type: 'otp', message: undefined, title: 'Bank' }, 'title'],
    [{ title: 'a\nb' }, 'title'],
    [{ text: 'x' }, 'text'],
  ])('refuses %j and names the field', async (more, field) => {
    expect(await refusedOutright(() => notifyGlobal(more))).toEqual([422, 'invalid_field', [field]])
  })

  test('takes another organization of an operator only', async () => {
    dataOf(await notifyGlobal({ org_id: globex.id }, service.operatorKey))
    dataOf(await notifyGlobal({}, service.operatorKey))
    expect((await service.messages()).map(({ org_id }) => org_id)).toEqual([globex.id, 0])
    expect(refusal(await notifyGlobal({ org_id: globex.id }))).toEqual([404, 'not_found', []])
    expect(refusal(await notifyGlobal({ org_id: 99 }, service.operatorKey))).toEqual([404, 'not_found', []])
  })

  test('says what to set up where nothing sends text messages', async () => {
    const silent = await startTestService({ channels: [] })
    const body = { mobile: '+12025550199', type: 'notice', message: 'x' }
    const answer = await silent.call('POST', '/send/global/notification', { body })
    expect(refusal(answer)).toEqual([409, 'delivery_not_configured', []])
    await silent.close()
  })
})

describe('POST /send-auth-request-by-email', () => {
  test('asks the member, rings, and mails a link that leads to the request', async () => {
    const { status, body } = await notifyByEmail({ reason: 'It is payday', email: 'USER1@acme.example' })
    expect([status, body.message]).toEqual([200, 'Approval requested'])
    const { request_id, message_id } = body.data
    expect(body.data).toEqual({ request_id, message_id, number: null, expires_at: later(5) })
    expect(service.rung).toMatchObject([{ request_id, user_id: ada.id }])
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
      subject: 'acme: a request waits for you',
      expires_at: later(5),
    })
    expect(letter!.text).toContain(`http://127.0.0.1:8080/approver#request=${request_id}`)
    expect(letter!.text).toContain('until 2030-01-31 12:05 UTC')
    dataOf(await decide(service, request_id, ada.key))
  })

  test('tells the number to who asks, and the letter holds neither it nor what is asked', async () => {
    const { number, expires_at } = dataOf(
      await notifyByEmail({ number: true, reason: 'payday', lifetime_s: 60 }),
    )
    expect(number).toMatch(/^\d\d$/)
    expect(expires_at).toBe(later(1))
    const [letter] = await service.messages()
    expect(letter!.text.replace(/#request=\S+|until .*UTC|127.0.0.1:8080/g, '')).not.toMatch(/\d/)
    expect(letter!.text).not.toMatch(/payroll|payday/)
  })

  test('asks for the factors and the number of the policy', async () => {
    await policy({ require_number: true, device_trust: true, factors: ['device'] })
    const { request_id, number } = dataOf(await notifyByEmail())
    expect(number).toMatch(/^\d\d$/)
    expect(dataOf(await show(service, request_id)).factors).toEqual(['biometric', 'device'])
    expect(await notifyByEmail({ factors: ['location'] })).toMatchObject({ status: 422 })
  })

  test('asks nobody where several have the address', async () => {
    await createMember(service, acme.id, 2, { email: 'User1@acme.example' })
    expect(await refusedOutright(() => notifyByEmail())).toEqual([409, 'several_users', []])
  })

  test('needs the organization of an operator where several have the address', async () => {
    const { operatorKey } = service
    expect(dataOf(await notifyByEmail({}, operatorKey)).request_id).toMatch(/^apr_/)
    await createApprover(service, globex.id, 1)
    const answer = await notifyByEmail({}, operatorKey)
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['org_id']])
    expect(answer.body.data.hint).toContain(`one of ${acme.id}, ${globex.id}`)
    const { request_id } = dataOf(await notifyByEmail({ org_id: globex.id }, operatorKey))
    expect(dataOf(await show(service, request_id)).org_id).toBe(globex.id)
  })

  test('answers with one code where nobody has it, or without a device, or of another organization, or inactive', async () => {
    await createMember(service, acme.id, 2)
    const held = await createApprover(service, acme.id, 3)
    await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`, { body: {} })
    await createApprover(service, globex.id, 4)
    for (const n of [2, 3, 4, 5]) {
      const answer = () => notifyByEmail({ email: `user${n}@acme.example` })
      expect(await refusedOutright(answer)).toEqual([409, 'approver_not_enrolled', []])
    }
  })

  test('asks nobody when no letter can go out', async () => {
    const silent = await startTestService({ dev: true, channels: ['sms'] })
    const org = await createTenant(silent, 'acme')
    await createApprover(silent, org.id, 1)
    const body = { email: 'user1@acme.example', action: 'x' }
    const answer = await silent.call('POST', '/send-auth-request-by-email', { key: org.key, body })
    expect(refusal(answer)).toEqual([409, 'delivery_not_configured', []])
    expect([silent.rung, (await contentsOf(silent)).approvals]).toEqual([[], []])
    await silent.close()
  })

  test('is limited as every prompt', async () => {
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
    [{ approver_mobile: '+12025550101' }, 'approver_mobile'],
  ])('refuses %j and names the field', async (more, field) => {
    expect(await refusedOutright(() => notifyByEmail(more))).toEqual([422, 'invalid_field', [field]])
  })
})

describe('POST /send/app-auth/notification', () => {
  let grace: { id: number; mobile: string }
  beforeEach(async () => {
    grace = await createMember(service, acme.id, 2, { first_name: 'Grace', last_name: 'Hopper' })
  })
  const notifyByApp = (more: object = {}, key?: string) =>
    post(
      '/send/app-auth/notification',
      { from_mobile: grace.mobile, to_mobile: ada.mobile, action: 'Open the safe', ...more },
      key,
    )

  test('rings the one and names the other, as whoever calls says', async () => {
    const { status, body } = await notifyByApp({ number: true, reason: 'Inventory' })
    expect([status, body.message]).toEqual([200, 'Approval requested'])
    const { request_id, number } = body.data
    const requester = 'Grace Hopper (+12025550102)'
    expect(body.data).toEqual({
      request_id,
      number: expect.stringMatching(/^\d\d$/),
      expires_at: later(5),
    })
    expect(service.rung).toMatchObject([{ request_id, user_id: ada.id }])
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

  test('refuses a sender who is nobody, not active, or of another organization', async () => {
    await createMember(service, globex.id, 3)
    const held = await createMember(service, acme.id, 4)
    await service.call('POST', `/organization/${acme.id}/user/${held.id}/pending`, { body: {} })
    for (const n of [3, 4, 5]) {
      const answer = () => notifyByApp({ from_mobile: `+1202555010${n}` })
      expect(await refusedOutright(answer)).toEqual([409, 'sender_not_active', []])
    }
  })

  test('refuses a receiver without a device, or of another organization', async () => {
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

  test('is limited together with all that rings this phone', async () => {
    for (let i = 0; i < 2; i++) dataOf(await notifyByApp())
    dataOf(await ask(service, ada, {}, acme.key))
    expect(refusal(await notifyByApp())).toEqual([429, 'too_many_pending', []])
  })
})
