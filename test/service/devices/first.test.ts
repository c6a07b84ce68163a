import { beforeEach, describe, expect, test } from 'vitest'
import {
  answerTo,
  begin,
  enrollPhone,
  fromPhone,
  linkFor,
  phoneRegistration,
  type Phone,
} from '../page/phone.ts'
import { ask, decide } from '../approver.ts'
import { createClock, minute } from '../clock.ts'
import { createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'
import { send } from '../mobile-user.ts'
import { cookieFor, moveDevice, signIn } from './moves.ts'

let clock: ReturnType<typeof createClock>
let service: TestService
let acme: { id: number; key: string }
let ada: { id: string; mobile_e164: string; mobile: string }

beforeEach(async () => {
  clock = createClock()
  service = await startTestService({ now: clock.now, deviceProof: 'otp' })
  acme = await createTenant(service, 'acme')
  ada = await createMember(service, acme.id, 1)
  return () => service.close()
})

const codeOf = async (): Promise<string> => {
  const sent = (await service.messages()).filter(({ kind }) => kind === 'otp')
  return /^\d{6}/.exec(sent.at(-1)!.text)![0]
}
const wrongCode = async () => String((Number(await codeOf()) + 1) % 1_000_000).padStart(6, '0')
const listed = async () =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${acme.id}/users/${ada.id}/devices`))
const setPolicy = (policy: object) =>
  service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } })
const sendAgain = async ({ key }: Phone) => {
  const challenge = await begin(service)
  const body = { challenge, response: answerTo(challenge, key) }
  return fromPhone(service, 'POST', 'device-code', { body })
}

describe('a first device', () => {
  test('waits for the code that its registration sends to the mobile of the member', async () => {
    const phone = await enrollPhone(service, acme.id, ada)
    // Its cookie opens nothing until the device is active.
    const { cookie } = phone
    expect(refusal(await fromPhone(service, 'GET', 'session', { cookie }))).toEqual([401, 'session_over', []])
    expect(await service.messages()).toMatchObject([
      {
        channel: 'sms',
        kind: 'otp',
        to: ada.mobile_e164,
        text: expect.stringMatching(/^\d{6} registers a phone that approves requests of acme\./),
      },
    ])
    expect(await listed()).toMatchObject([{ state: 'pending', proof: 'otp', bound_at: null }])
    expect(refusal(await signIn(service, phone.key))).toEqual([403, 'device_pending', []])
    expect(refusal(await ask(service, ada))).toEqual([409, 'approver_not_enrolled', []])
  })

  test('gets its code although an application has sent as many text messages as it may', async () => {
    const limits = `/svc/v1/organizations/${acme.id}/limits`
    dataOf(await service.call('POST', limits, { body: { sms_per_day: 10 } }))
    const send = (n: number) => {
      const body = { mobile: `+1202555${1000 + n}`, type: 'alert', message: 'Hi' }
      return service.call('POST', '/send/global/notification', { key: acme.key, body })
    }
    for (let n = 0; n < 9; n++) dataOf(await send(n))
    const refused = await send(9)
    expect([refused.status, refused.body.message]).toEqual([
      429,
      'Text messages per 24 hours: the limit of 10 is reached, but for 1 that register phones',
    ])
    await enrollPhone(service, acme.id, ada)
    expect(await codeOf()).toMatch(/^\d{6}$/)
    expect((await send(9)).status).toBe(429)
  })

  test('becomes active with the code, and signs in immediately', async () => {
    const phone = await enrollPhone(service, acme.id, ada)
    clock.tick(minute)
    expect(dataOf(await signIn(service, phone.key, await codeOf()))).toMatchObject({
      device_id: phone.device,
    })
    expect(await listed()).toMatchObject([{ state: 'active', proof: 'otp', bound_at: clock.iso() }])
    const { request_id } = dataOf(await ask(service, ada))
    expect(dataOf(await decide(service, request_id, phone.key))).toMatchObject({ status: 'approved' })
  })

  test('stays pending after five wrong codes, even with the right one', async () => {
    const phone = await enrollPhone(service, acme.id, ada)
    const wrong = await wrongCode()
    for (let at = 0; at < 5; at++)
      expect(refusal(await signIn(service, phone.key, wrong))).toEqual([403, 'otp_invalid', []])
    expect(refusal(await signIn(service, phone.key, await codeOf()))).toEqual([403, 'otp_invalid', []])
    // Neither a new code nor a new registration gives new tries.
    dataOf(await sendAgain(phone))
    expect(refusal(await signIn(service, phone.key, await codeOf()))).toEqual([403, 'otp_invalid', []])
    const other = await enrollPhone(service, acme.id, ada)
    expect(refusal(await signIn(service, other.key, await codeOf()))).toEqual([403, 'otp_invalid', []])
    expect(await listed()).toMatchObject([{ state: 'pending' }, { state: 'pending' }])
    clock.tick(11 * minute)
    dataOf(await sendAgain(phone))
    dataOf(await signIn(service, phone.key, await codeOf()))
  })

  test('rejects a code that was sent for something else', async () => {
    const phone = await enrollPhone(service, acme.id, ada)
    const body = { type: 'otp', mobile: ada.mobile_e164, org_id: acme.id }
    dataOf(await service.call('POST', '/send/global/notification', { body }))
    const [, other] = (await service.messages()).filter(({ kind }) => kind === 'otp')
    const foreign = /\d{6}/.exec(other!.text)![0]
    expect(refusal(await signIn(service, phone.key, foreign))).toEqual([403, 'otp_invalid', []])
  })

  test('rejects a code after ten minutes', async () => {
    const phone = await enrollPhone(service, acme.id, ada)
    const code = await codeOf()
    clock.tick(10 * minute)
    expect(refusal(await signIn(service, phone.key, code))).toEqual([403, 'otp_invalid', []])
  })

  test('is only one of two pending devices: the other needs its approval', async () => {
    const one = await enrollPhone(service, acme.id, ada)
    const other = await enrollPhone(service, acme.id, ada)
    const code = await codeOf()
    const first = (await service.messages()).find(({ kind }) => kind === 'otp')
    dataOf(await signIn(service, one.key, first!.text.slice(0, 6)))
    expect(await listed()).toMatchObject([{ state: 'active' }, { state: 'pending', proof: 'device' }])
    expect(refusal(await signIn(service, other.key, code))).toEqual([403, 'device_pending', []])
    dataOf(await moveDevice(service, { key: one.key }, other.device))
    await cookieFor(service, other.key)
  })

  test('is active immediately if the policy requires only the link', async () => {
    dataOf(await setPolicy({ device_proof: 'link' }))
    const phone = await enrollPhone(service, acme.id, ada)
    expect(await listed()).toMatchObject([{ id: phone.device, state: 'active', proof: 'link' }])
  })

  test('is not enrolled if its code could not be sent', async () => {
    await service.close()
    service = await startTestService({ now: clock.now, channels: ['email', 'push'] })
    acme = await createTenant(service, 'acme')
    ada = await createMember(service, acme.id, 1)
    dataOf(await setPolicy({ device_proof: 'otp' }))
    const enrolling = service.call('POST', `/svc/v1/organizations/${acme.id}/users/${ada.id}/enrollments`, {
      body: {},
    })
    expect(refusal(await enrolling)).toEqual([409, 'delivery_not_configured', []])
  })

  test('is enrolled although an application has sent as many codes as it may', async () => {
    for (let at = 0; at < 5; at++) dataOf(await send(service, ada.mobile_e164, { key: acme.key }))
    expect((await send(service, ada.mobile_e164, { key: acme.key })).status).toBe(429)
    await enrollPhone(service, acme.id, ada)
    expect(await listed()).toHaveLength(1)
  })

  test('leaves its link valid if too many codes were sent', async () => {
    const phone = await enrollPhone(service, acme.id, ada)
    for (let at = 0; at < 4; at++) dataOf(await sendAgain(phone))
    const token = await linkFor(service, acme.id, ada.id)
    const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))
    const body = { token, name: 'Pixel', response: phoneRegistration(ceremony).response }
    const answer = await service.call('POST', '/svc/v1/devices', { key: null, body })
    expect(refusal(answer)).toEqual([429, 'too_many_sends', []])
    dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))
  })
})
