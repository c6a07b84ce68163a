import { describe, expect, test } from 'vitest'
import { cookieFor, moveDevice, signIn } from '../devices/moves.ts'
import { minute } from '../clock.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { answerTo, cookieOf, fromPage, fromPhone, phoneRegistration, type Phone } from './phone.ts'
import { acme, ada, addTablet, installHooks, service } from './visit.ts'

installHooks()

const beginLink = ({ cookie }: Phone) => fromPhone(service, 'POST', 'device-link/challenge', { cookie })
const linkFrom = async (phone: Phone) => {
  const { challenge } = dataOf(await beginLink(phone))
  const body = { challenge, response: answerTo(challenge, phone.key) }
  return fromPhone(service, 'POST', 'device-link', { cookie: phone.cookie, body })
}
const registerWith = async (url: string) => {
  const token = url.split('#enroll=')[1]!
  const ceremony = dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))
  const { key, response } = phoneRegistration(ceremony)
  const body = { token, name: 'Laptop', response }
  return {
    key,
    answer: await service.call('POST', '/svc/v1/devices', { key: null, body, headers: fromPage }),
  }
}

describe('a device added from another one', () => {
  test('is registered with the link, and pending until an active device approves it', async () => {
    const { url, expires_in_ms } = dataOf(await linkFrom(ada))
    expect(expires_in_ms).toBe(10 * minute)
    const { key, answer } = await registerWith(url)
    expect(dataOf(answer)).toMatchObject({
      user_id: ada.user,
      state: 'pending',
      proof: 'device',
      enrolled_by: null,
    })
    expect(refusal(await fromPhone(service, 'GET', 'session', { cookie: cookieOf(answer) }))).toEqual([
      401,
      'session_over',
      [],
    ])
    const refused = await signIn(service, key)
    expect(refusal(refused)).toEqual([403, 'device_pending', []])
    // Both screens show it.
    const { comparison_code } = dataOf(answer)
    expect(refused.body.data.device).toMatchObject({ comparison_code })
    const { devices } = dataOf(await fromPhone(service, 'GET', 'devices', { cookie: ada.cookie }))
    const codes = devices.map((one: { comparison_code: string }) => one.comparison_code)
    expect(codes).toContain(comparison_code)
    expect(new Set(codes).size).toBe(2)
    dataOf(await moveDevice(service, ada, dataOf(answer).id))
    await cookieFor(service, key)
  })

  test('uses up the link', async () => {
    const { url } = dataOf(await linkFrom(ada))
    dataOf((await registerWith(url)).answer)
    await expect(registerWith(url)).rejects.toThrow(/410/)
  })

  test('requires the signature of the device, not only its session', async () => {
    const tablet = await addTablet()
    const { challenge } = dataOf(await beginLink(ada))
    const { cookie } = ada
    const send = (response: unknown, by = cookie) =>
      fromPhone(service, 'POST', 'device-link', { cookie: by, body: { challenge, response } })
    expect(refusal(await send(answerTo('AAAA', ada.key)))).toEqual([403, 'assertion_refused', []])
    expect(refusal(await send(answerTo(challenge, ada.key, false)))).toEqual([403, 'assertion_refused', []])
    expect(refusal(await send(answerTo(challenge, tablet.key), tablet.cookie))).toEqual([
      410,
      'challenge_over',
      [],
    ])
    dataOf(await send(answerTo(challenge, ada.key)))
    expect(refusal(await send(answerTo(challenge, ada.key)))).toEqual([410, 'challenge_over', []])
  })

  test('cannot be added by a device that was removed while it signed', async () => {
    const tablet = await addTablet()
    const { challenge } = dataOf(await beginLink(tablet))
    const body = { challenge, response: answerTo(challenge, tablet.key) }
    dataOf(await moveDevice(service, ada, tablet.device, 'remove'))
    const answer = await fromPhone(service, 'POST', 'device-link', { cookie: tablet.cookie, body })
    expect(answer.status).toBe(401)
  })

  test('is recorded without its link', async () => {
    dataOf(await linkFrom(ada))
    const [action, subject, changes] = (await auditOf(service, acme.id)).at(-1)!
    expect([action, subject, changes]).toEqual(['createDeviceLink', `user:${ada.user}`, ['enrollment']])
  })
})
