import { beforeEach, describe, expect, test } from 'vitest'
import { ask, decide } from '../approver.ts'
import {
  answerTo,
  createPhone,
  digitsOf,
  enrollPhone,
  fromPhone,
  linkFor,
  type Phone,
} from '../page/phone.ts'
import { auditOf, dataOf, refusal } from '../fixtures.ts'
import { acme, installHooks, service } from '../acme.ts'
import { cookieFor, moveDevice, signIn } from './moves.ts'

installHooks()

let ada: Phone
beforeEach(async () => {
  ada = await createPhone(service, acme.id, 1)
})

const anotherOf = (phone: Phone) => enrollPhone(service, acme.id, { id: phone.user, mobile: phone.mobile })
const listed = async (phone: Phone) =>
  dataOf(await service.call('GET', `/svc/v1/organizations/${acme.id}/users/${phone.user}/devices`))
const revoke = (device: string) =>
  service.call('DELETE', `/svc/v1/organizations/${acme.id}/devices/${device}`)

const open = (token: string) => fromPhone(service, 'POST', 'enrollment', { body: { token } })

describe('a further device', () => {
  test('is pending: it neither signs in nor decides', async () => {
    const tablet = await anotherOf(ada)
    // Its cookie opens nothing until the device is active.
    const { cookie } = tablet
    expect(refusal(await fromPhone(service, 'GET', 'session', { cookie }))).toEqual([401, 'session_over', []])
    expect(await listed(ada)).toMatchObject([
      { state: 'active', proof: 'link' },
      { state: 'pending', proof: 'device', bound_at: null },
    ])
    const answer = await signIn(service, tablet.key)
    expect(refusal(answer)).toEqual([403, 'device_pending', []])
    expect(answer.body.message).toBe('This device is waiting for the approval of another device of its user')
    const { request_id } = dataOf(await ask(service, ada))
    expect(refusal(await decide(service, request_id, tablet.key))).toEqual([403, 'device_pending', []])
  })

  test('becomes active with the signature of another device of the same person', async () => {
    const tablet = await anotherOf(ada)
    expect(dataOf(await moveDevice(service, ada, tablet.device))).toMatchObject({
      id: tablet.device,
      state: 'active',
      proof: 'device',
    })
    expect((await auditOf(service, acme.id)).at(-1)).toEqual([
      'approveDevice',
      `device:${tablet.device}`,
      ['state', 'proof'],
    ])
    await cookieFor(service, tablet.key)
    const { request_id } = dataOf(await ask(service, ada))
    expect(dataOf(await decide(service, request_id, tablet.key))).toMatchObject({ status: 'approved' })
  })

  test('is refused by another device, and then never approved', async () => {
    const tablet = await anotherOf(ada)
    expect(dataOf(await moveDevice(service, ada, tablet.device, 'refuse'))).toMatchObject({
      state: 'refused',
    })
    expect(refusal(await moveDevice(service, ada, tablet.device))).toEqual([409, 'device_refused', []])
    expect(refusal(await signIn(service, tablet.key))).toEqual([403, 'device_refused', []])
    const { request_id } = dataOf(await ask(service, ada))
    expect(refusal(await decide(service, request_id, tablet.key))).toEqual([403, 'device_refused', []])
  })

  test('is approved or refused once', async () => {
    const tablet = await anotherOf(ada)
    const other = await anotherOf(ada)
    dataOf(await moveDevice(service, ada, other.device))
    const answers = await Promise.all([
      moveDevice(service, ada, tablet.device, 'approve'),
      moveDevice(service, { key: other.key }, tablet.device, 'refuse'),
    ])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })

  test('is not approved by itself, by another person, or by a key', async () => {
    const tablet = await anotherOf(ada)
    const bob = await createPhone(service, acme.id, 2)
    const own = await fromPhone(service, 'POST', `devices/${ada.device}/challenge`, {
      cookie: ada.cookie,
      body: { move: 'approve' },
    })
    expect(refusal(own)).toEqual([409, 'own_device', []])
    expect(refusal(await moveDevice(service, bob, tablet.device))).toEqual([403, 'admin_only', []])
    const approve = `/svc/v1/organizations/${acme.id}/devices/${tablet.device}/approve`
    expect(refusal(await service.call('POST', approve, { body: digitsOf(tablet), key: acme.key }))).toEqual([
      403,
      'operator_only',
      [],
    ])
    expect(refusal(await service.call('POST', approve, { body: digitsOf(tablet) }))).toEqual([
      403,
      'device_pending',
      [],
    ])
    expect(await listed(ada)).toMatchObject([{ state: 'active' }, { state: 'pending' }])
  })

  test('is not approved by an administrator, who only approves recoveries', async () => {
    const tablet = await anotherOf(ada)
    const admin = await createPhone(service, acme.id, 3, { role: 'admin' })
    await service.storage.write(
      (db) => db.updateTable('memberships').set({ admin_from: null, promoted_at: null }).execute(),
      { org: 0 },
    )
    expect(refusal(await moveDevice(service, admin, tablet.device))).toEqual([403, 'device_pending', []])
  })

  test('requires a challenge for exactly that move', async () => {
    const tablet = await anotherOf(ada)
    const path = `devices/${tablet.device}`
    const cookie = ada.cookie
    const begun = await fromPhone(service, 'POST', `${path}/challenge`, { cookie, body: { move: 'refuse' } })
    const { challenge } = dataOf(begun)
    const body = { move: 'approve', challenge, response: answerTo(challenge, ada.key) }
    expect(refusal(await fromPhone(service, 'POST', `${path}/move`, { cookie, body }))).toEqual([
      410,
      'challenge_over',
      [],
    ])
  })

  test('waits for an administrator once the device that could approve it is revoked', async () => {
    const tablet = await anotherOf(ada)
    expect(dataOf(await revoke(ada.device))).toMatchObject({
      state: 'revoked',
      next: 'The user has no active device now. The next one needs the approval of an administrator (a recovery).',
    })
    expect(await listed(ada)).toMatchObject([{ state: 'revoked' }, { state: 'pending', proof: 'admin' }])
    expect((await signIn(service, tablet.key)).body.message).toBe(
      'This device is waiting for the approval of an administrator',
    )
  })

  test('that is revoked is not reported as the last one', async () => {
    const tablet = await anotherOf(ada)
    dataOf(await moveDevice(service, ada, tablet.device))
    expect(dataOf(await revoke(tablet.device))).toMatchObject({ next: null })
  })

  test('is not registered while five others are pending', async () => {
    const waiting = []
    for (let at = 0; at < 5; at++) waiting.push(await anotherOf(ada))
    await expect(anotherOf(ada)).rejects.toThrow(/409 .*too_many_pending_devices/)
    dataOf(await moveDevice(service, ada, waiting[0]!.device, 'refuse'))
    await anotherOf(ada)
  })

  test('is not registered with a link of a device that was removed since', async () => {
    const tablet = await anotherOf(ada)
    dataOf(await moveDevice(service, ada, tablet.device))
    const { cookie, key } = ada
    const { challenge } = dataOf(await fromPhone(service, 'POST', 'device-link/challenge', { cookie }))
    const body = { challenge, response: answerTo(challenge, key) }
    const { url } = dataOf(await fromPhone(service, 'POST', 'device-link', { cookie, body }))
    const ofKey = await linkFor(service, acme.id, ada.user)
    dataOf(await moveDevice(service, { key: tablet.key }, ada.device, 'remove'))
    expect(refusal(await open(url.split('#enroll=')[1]))).toEqual([410, 'enrollment_over', []])
    expect((await open(ofKey)).status).toBe(200)
  })

  test('is refused by a key with the scope devices', async () => {
    const tablet = await anotherOf(ada)
    const path = `/svc/v1/organizations/${acme.id}/devices/${tablet.device}/refuse`
    expect(dataOf(await service.call('POST', path, { body: {}, key: acme.key }))).toMatchObject({
      state: 'refused',
    })
    expect(refusal(await service.call('POST', path, { body: {} }))).toEqual([409, 'device_refused', []])
  })
})
