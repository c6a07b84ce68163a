import { describe, expect, test } from 'vitest'
import { acme, ada, clock, service } from '../acme-with-ada.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { startTestService } from '../harness.ts'
import { globex, installHooks, later, post, refusedOutright } from '../approvals/notification.ts'

installHooks()

const notifyGlobal = (more: object = {}, key?: string) =>
  post(
    '/send/global/notification',
    { mobile: '+12025550199', type: 'notice', message: 'The door is open.', ...more },
    key,
  )

describe('POST /send/global/notification', () => {
  test.each(['alert', 'notice'])('puts the text of an %s into the outbox', async (type) => {
    const { status, body } = await notifyGlobal({ type, title: 'Door', mobile: '+1 202-555-0199' })
    expect([status, body.status, body.message]).toEqual([200, 'success', 'Message accepted'])
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

  test('sends a code like /wp/send/sms, under the same limit', async () => {
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

  test('has the same answer for a known and an unknown number', async () => {
    for (const type of ['notice', 'otp'] as const) {
      const message = type === 'otp' ? undefined : 'x'
      const [known, unknown] = [
        dataOf(await notifyGlobal({ type, message, mobile: ada.mobile })),
        dataOf(await notifyGlobal({ type, message })),
      ]
      expect({ ...known, message_id: '' }).toEqual({ ...unknown, message_id: '' })
    }
  })

  test('sends at most five of a type to a number in ten minutes, even concurrently', async () => {
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
    [{ title: 'a\u202eb' }, 'title'],
    [{ text: 'x' }, 'text'],
  ])('refuses %j and names the field', async (more, field) => {
    expect(await refusedOutright(() => notifyGlobal(more))).toEqual([422, 'invalid_field', [field]])
  })

  test('accepts another organization only from an operator', async () => {
    dataOf(await notifyGlobal({ org_id: globex.id }, service.operatorKey))
    dataOf(await notifyGlobal({}, service.operatorKey))
    expect((await service.messages()).map(({ org_id }) => org_id)).toEqual([globex.id, 0])
    expect(refusal(await notifyGlobal({ org_id: globex.id }))).toEqual([404, 'not_found', []])
    expect(refusal(await notifyGlobal({ org_id: 99 }, service.operatorKey))).toEqual([404, 'not_found', []])
  })

  test('reports what to set up if text messages are not configured', async () => {
    const silent = await startTestService({ channels: [] })
    const body = { mobile: '+12025550199', type: 'notice', message: 'x' }
    const answer = await silent.call('POST', '/send/global/notification', { body })
    expect(refusal(answer)).toEqual([409, 'delivery_not_configured', []])
    await silent.close()
  })
})
