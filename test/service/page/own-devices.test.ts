import { signAssertion, type SoftwareKey } from '../../../src/client/software-authenticator.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { ask, post, signed, show } from '../approver.ts'
import { auditOf, createTenant, dataOf, refusal } from '../fixtures.ts'
import { cookieFor, moveDevice, signIn } from '../devices/moves.ts'
import { minute } from '../clock.ts'
import { answerTo, begin, createPhone, enrollPhone, fromPhone, type Phone, readInbox } from './phone.ts'
import { acme, ada, addTablet, clock, installHooks, openSession, service } from './visit.ts'

installHooks()

let tablet: Phone
beforeEach(async () => {
  tablet = await addTablet()
})

type Device = { id: string; name: string; state: string; last_used_at: string | null; backed_up: boolean }

const devicesOf = async ({ cookie }: Phone): Promise<Device[]> =>
  dataOf(await fromPhone(service, 'GET', 'devices', { cookie })).devices
const rename = ({ cookie }: Phone, device: string, name: string) =>
  fromPhone(service, 'POST', `devices/${device}/name`, { cookie, body: { name } })
const remove = (phone: Phone, device: string, last = false) =>
  moveDevice(service, phone, device, last ? 'remove_last' : 'remove')

describe('a name', () => {
  test('of an own device is changed by the session alone', async () => {
    expect(dataOf(await rename(ada, tablet.device, 'Kitchen tablet'))).toMatchObject({
      id: tablet.device,
      name: 'Kitchen tablet',
    })
    expect(await devicesOf(tablet)).toMatchObject([{ name: 'Pixel' }, { name: 'Kitchen tablet' }])
    const [action, subject, changes] = (await auditOf(service, acme.id)).at(-1)!
    expect([action, subject, changes]).toEqual(['renameOwnDevice', `device:${tablet.device}`, ['name']])
    // The name is not authenticated, so the device still counts.
    await cookieFor(service, tablet.key)
  })

  test.each([
    ['an empty one', ' '],
    ['one of two lines', 'a\nb'],
    ['one that is too long', 'x'.repeat(61)],
    ['one with an invisible character', 'Pixel\u202e'],
  ])('is refused: %s', async (_, name) => {
    expect((await rename(ada, tablet.device, name)).status).toBe(422)
  })

  test('of a device that is not the person’s own is not found', async () => {
    const bob = await createPhone(service, acme.id, 2)
    const eve = await createPhone(service, (await createTenant(service, 'globex')).id, 1)
    for (const other of [bob, eve])
      expect(refusal(await rename(other, tablet.device, 'Mine'))).toEqual([404, 'not_found', []])
    dataOf(await remove(ada, tablet.device))
    expect(refusal(await rename(ada, tablet.device, 'Mine'))).toEqual([404, 'not_found', []])
  })
})

test('the list says when a device last signed anything', async () => {
  clock.tick(minute)
  await cookieFor(service, tablet.key)
  const [phone, other] = await devicesOf(ada)
  expect([phone!.last_used_at, other!.last_used_at]).toEqual([expect.any(String), clock.iso()])
  expect(phone!.last_used_at! < clock.iso()).toBe(true)
})

/** As `answerTo`, from an authenticator whose key is copied to other devices. */
const syncedAnswer = (challenge: string, key: SoftwareKey) => {
  const { response, ...answer } = answerTo(challenge, key)
  const data = new Uint8Array(Buffer.from(response.authenticatorData, 'base64url'))
  data[32]! |= eligible | backedUp
  const client = new Uint8Array(Buffer.from(response.clientDataJSON, 'base64url'))
  const signature = Buffer.from(signAssertion(key, data, client)).toString('base64url')
  const authenticatorData = Buffer.from(data).toString('base64url')
  return { ...answer, response: { ...response, authenticatorData, signature } }
}
const [eligible, backedUp] = [8, 16]

const flags = async () => (await devicesOf(ada)).map(({ backed_up }) => backed_up)

test('a synced passkey is known by the flags that the device signed last', async () => {
  expect(await flags()).toEqual([false, false])
  const challenge = await begin(service)
  dataOf(await openSession(challenge, syncedAnswer(challenge, tablet.key)))
  expect(await flags()).toEqual([false, true])
  await cookieFor(service, tablet.key)
  expect(await flags()).toEqual([false, false])
})

describe('removing', () => {
  test('another device ends its session at once, and its decisions', async () => {
    const { request_id } = dataOf(await ask(service, ada))
    const response = await signed(service, request_id, 'approve', tablet.key)
    expect(dataOf(await remove(ada, tablet.device))).toMatchObject({ state: 'revoked' })
    expect(refusal(await fromPhone(service, 'GET', 'devices', { cookie: tablet.cookie }))[0]).toBe(401)
    expect(refusal(await signIn(service, tablet.key))).toEqual([403, 'device_revoked', []])
    expect(refusal(await post(service, request_id, { decision: 'approve', response }))).toEqual([
      403,
      'device_revoked',
      [],
    ])
    expect(dataOf(await show(service, request_id))).toMatchObject({ status: 'pending' })
    const [action, subject, changes] = (await auditOf(service, acme.id)).at(-1)!
    expect([action, subject, changes]).toEqual([
      'moveDevice',
      `device:${tablet.device}`,
      ['state', 'revoked_at'],
    ])
  })

  test('the device itself is possible while another one is active', async () => {
    dataOf(await remove(tablet, tablet.device))
    expect(refusal(await fromPhone(service, 'GET', 'session', { cookie: tablet.cookie }))[0]).toBe(401)
    expect(await devicesOf(ada)).toMatchObject([{ state: 'active' }, { state: 'revoked' }])
  })

  test('the last one requires that the person knows what follows', async () => {
    dataOf(await remove(ada, tablet.device))
    expect(refusal(await remove(ada, ada.device))).toEqual([409, 'last_device', []])
    expect(await devicesOf(ada)).toMatchObject([{ state: 'active' }, { state: 'revoked' }])
    dataOf(await remove(ada, ada.device, true))
    const next = await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
    expect((await signIn(service, next.key)).body.message).toBe(
      'This device is waiting for the approval of an administrator',
    )
  })

  test('each other leaves one of two devices', async () => {
    const answers = await Promise.all([remove(ada, tablet.device), remove(tablet, ada.device)])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 403])
  })

  test('is signed for exactly this device and this kind of removal', async () => {
    const { cookie } = ada
    const path = `devices/${tablet.device}`
    const { challenge } = dataOf(
      await fromPhone(service, 'POST', `${path}/challenge`, { cookie, body: { move: 'remove' } }),
    )
    const response = answerTo(challenge, ada.key)
    for (const [at, move] of [
      [path, 'remove_last'],
      [path, 'refuse'],
      [`devices/${ada.device}`, 'remove'],
    ]) {
      const body = { move, challenge, response }
      const answer = await fromPhone(service, 'POST', `${at}/move`, { cookie, body })
      expect(refusal(answer)).toEqual([410, 'challenge_over', []])
    }
    expect(await devicesOf(ada)).toMatchObject([{ state: 'active' }, { state: 'active' }])
  })

  test('twice says that it is removed already', async () => {
    dataOf(await remove(ada, tablet.device))
    expect(refusal(await remove(ada, tablet.device))).toEqual([409, 'device_revoked', []])
  })

  test('a device of somebody else is for administrators', async () => {
    const bob = await createPhone(service, acme.id, 2)
    expect(refusal(await remove(bob, tablet.device))).toEqual([403, 'admin_only', []])
    const admin = await createPhone(service, acme.id, 3, { role: 'admin' })
    dataOf(await remove(admin, tablet.device))
    expect(refusal(await remove(admin, ada.device))).toEqual([409, 'last_device', []])
    dataOf(await remove(admin, ada.device, true))
    const globex = await createTenant(service, 'globex')
    const eve = await createPhone(service, globex.id, 4, { role: 'admin' })
    expect(refusal(await remove(eve, bob.device))).toEqual([404, 'not_found', []])
  })
})

test('an open page learns at once of a new device of its person', async () => {
  const { mark } = await readInbox(service, ada)
  const waiting = readInbox(service, ada, `?wait_s=20&seen=${mark}`)
  await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
  expect((await waiting).mark).not.toBe(mark)
})
