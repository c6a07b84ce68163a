import { describe, expect, test } from 'vitest'
import type { Operation } from '../../../src/contract/operation.ts'
import { planRequest } from '../../../src/client/request.ts'
import { type OperationId, table } from '../../../src/contract/table.ts'
import { moveDevice } from '../devices/moves.ts'
import { chainOf, createMember, createTenant, dataOf, refusal } from '../fixtures.ts'
import { inputs } from '../tenant-inputs.ts'
import type { Holding } from '../tenant-holding.ts'
import {
  answerTo,
  confirm,
  confirmed,
  cookieOf,
  createPhone,
  enrollPhone,
  fromPhone,
  type Phone,
  withoutConfirmation,
} from './phone.ts'
import { acme, ada, addTablet, clock, installHooks, openSession, service } from './visit.ts'

installHooks()

const minute = 60_000

/** Anything that reads more than the own inbox. */
const readDevices = (cookie: string) => fromPhone(service, 'GET', 'devices', { cookie })
const readInbox = (cookie: string) => fromPhone(service, 'GET', 'sessions', { cookie })
const refused = [403, 'signature_required', []]
const notSigned = [410, expect.stringMatching(/^(?:challenge|authorization)_over$/), []]

const askFor = async (cookie: string): Promise<string> =>
  dataOf(await fromPhone(service, 'POST', 'confirmation/challenge', { cookie })).challenge
const give = (challenge: string) =>
  fromPhone(service, 'POST', 'confirmation', {
    cookie: ada.cookie,
    body: { challenge, response: answerTo(challenge, ada.key) },
  })

const ofPage = (Object.entries(table) as [OperationId, Operation][]).filter(([, one]) => one.session)

/** Ids that look right and name nothing. */
const nobody = new Proxy({}, { get: (_, name) => (name === 'org' ? acme.id : '1') }) as Holding

describe('the cookie of a session alone', () => {
  const alone = [
    'getSession closeSession getOwnRequest listRequestRows readConsent beginConfirmation',
    'beginAway beginConsent beginDenials beginDeviceLink beginDeviceMove beginMemberMove beginReport beginReview beginUnmute',
  ]

  test('is enough for the own inbox and for what leads to a signature', () => {
    const marked = ofPage.filter(([, one]) => one.cookieAlone).map(([id]) => id)
    expect(marked.sort()).toEqual(alone.join(' ').split(' ').sort())
  })

  test.each(ofPage.filter(([, one]) => !one.cookieAlone && !one.open))(
    'is refused by %s',
    async (id, operation) => {
      const cookie = withoutConfirmation(ada.cookie)
      const input = inputs[id](nobody, nobody) as Record<string, unknown>
      const { method, url, body } = planRequest('http://localhost:8080', operation, input)
      const [, path] = url.split('/svc/v1/approver/')
      const send = (sent: string) => fromPhone(service, method, path!, { cookie: sent, body })
      const before = await chainOf(service, acme.id)
      const answer = await send(cookie)
      const isSigned = 'challenge' in operation.input._zod.def.shape
      // What is signed itself is refused for its signature.
      expect(refusal(answer)).toEqual(isSigned ? notSigned : refused)
      expect(await chainOf(service, acme.id)).toEqual(before)
      expect((await send(ada.cookie)).body.data?.code).not.toBe('signature_required')
    },
  )
})

test.each([
  ['members/', ({ user }: Phone) => user, 'accept'],
  ['devices/', ({ device }: Phone) => device, 'refuse'],
])('the cookie of an administrator alone does not show which %s there are', async (path, idOf, move) => {
  const other = await createPhone(service, acme.id, 2)
  for (const { cookie } of [ada, await createPhone(service, acme.id, 3, { role: 'admin' })]) {
    const statusOf = async (id: string) =>
      (
        await fromPhone(service, 'POST', `${path}${id}/challenge`, {
          cookie: withoutConfirmation(cookie),
          body: { move },
        })
      ).status
    expect(await statusOf('999')).toBe(await statusOf(idOf(other)))
  }
})

describe('a confirmation', () => {
  test('comes with a sign-in, and ends after five minutes', async () => {
    clock.tick(5 * minute - 1000)
    dataOf(await readDevices(ada.cookie))
    clock.tick(1000)
    expect(refusal(await readDevices(ada.cookie))).toEqual(refused)
    dataOf(await readInbox(ada.cookie))
  })

  test('is renewed by the device of the session, keeps the session, and is in the audit log', async () => {
    clock.tick(5 * minute)
    const again = await confirmed(service, ada)
    expect(withoutConfirmation(again.cookie)).toBe(withoutConfirmation(ada.cookie))
    dataOf(await readDevices(again.cookie))
    clock.tick(5 * minute)
    expect(refusal(await readDevices(again.cookie))).toEqual(refused)
    const rows = await chainOf(service, acme.id)
    expect(rows.at(-1)).toMatchObject({ action: 'confirmSession', subject: `device:${ada.device}` })
  })

  test('says which key of which address is asked for', async () => {
    const answer = await fromPhone(service, 'POST', 'confirmation/challenge', { cookie: ada.cookie })
    expect(dataOf(answer)).toEqual({
      rp_id: 'localhost',
      credential_id: ada.key.credential_id,
      challenge: expect.any(String),
    })
  })

  test('needs a session', async () => {
    const answer = await fromPhone(service, 'POST', 'confirmation/challenge')
    expect(refusal(answer)).toEqual([401, 'session_over', []])
  })

  test('is not given for a signature without a check of the user', async () => {
    const begun = await fromPhone(service, 'POST', 'confirmation/challenge', { cookie: ada.cookie })
    const { challenge } = dataOf(begun)
    const body = { challenge, response: answerTo(challenge, ada.key, false) }
    const answer = await fromPhone(service, 'POST', 'confirmation', { cookie: ada.cookie, body })
    expect(refusal(answer)).toEqual([403, 'assertion_refused', []])
    expect(answer.headers['set-cookie']).toBeUndefined()
  })

  test('is not given for the assertion of another device, of the same person or not', async () => {
    const tablet = await addTablet()
    const bob = await enrollPhone(service, acme.id, await createMember(service, acme.id, 2))
    for (const { key } of [tablet, bob]) {
      const answer = await confirm(service, { cookie: ada.cookie, key })
      expect(refusal(answer)).toEqual([403, 'device_not_registered', []])
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
  })

  test('is not given for a challenge of another session or of a sign-in, nor twice for one', async () => {
    const begun = await fromPhone(service, 'POST', 'challenge')
    const signIn = dataOf(begun).challenge
    const other = cookieOf(await openSession(signIn, answerTo(signIn, ada.key)))
    const own = await askFor(ada.cookie)
    expect(refusal(await give(await askFor(other)))).toEqual([410, 'challenge_over', []])
    const unused = dataOf(await fromPhone(service, 'POST', 'challenge')).challenge
    expect(refusal(await give(unused))).toEqual([410, 'challenge_over', []])
    expect((await give(own)).status).toBe(200)
    expect(refusal(await give(own))).toEqual([410, 'challenge_over', []])
  })

  test('ends with its session and its device, although the sealed part has not expired', async () => {
    const tablet = await addTablet()
    dataOf(await readDevices(tablet.cookie))
    dataOf(await moveDevice(service, ada, tablet.device, 'remove'))
    expect(refusal(await readDevices(tablet.cookie))).toEqual([401, 'session_over', []])
    expect((await fromPhone(service, 'DELETE', 'session', { cookie: ada.cookie })).status).toBe(200)
    expect(refusal(await readDevices(ada.cookie))).toEqual([401, 'session_over', []])
  })

  test('counts for no other session, device or organization, and not after a change', async () => {
    const tablet = await addTablet()
    const globex = await createTenant(service, 'globex')
    const there = await enrollPhone(service, globex.id, await createMember(service, globex.id, 3))
    const [, proof] = ada.cookie.split(/\.(.*)/)
    for (const { cookie } of [tablet, there])
      expect(refusal(await readDevices(`${withoutConfirmation(cookie)}.${proof}`))).toEqual(refused)
    const parts = proof!.split('.')
    const changed = [...parts.slice(0, -1), Buffer.from('2999-01-01T00:00:00.000Z').toString('base64url')]
    for (const wrong of [changed.join('.'), 'x', 'v2...', proof!.slice(0, -2)])
      expect(refusal(await readDevices(`${withoutConfirmation(ada.cookie)}.${wrong}`))).toEqual(refused)
    dataOf(await readDevices(ada.cookie))
  })

  test('comes with whatever else the device signs in its session', async () => {
    clock.tick(5 * minute)
    const begun = await fromPhone(service, 'POST', 'device-link/challenge', { cookie: ada.cookie })
    const { challenge } = dataOf(begun)
    const body = { challenge, response: answerTo(challenge, ada.key) }
    const answer = await fromPhone(service, 'POST', 'device-link', { cookie: ada.cookie, body })
    dataOf(await readDevices(cookieOf(answer)))
    expect(refusal(await readDevices(ada.cookie))).toEqual(refused)
  })

  test('is limited together with the sign-ins of the device', async () => {
    let phone = ada
    for (let n = 0; n < 30; n++) phone = await confirmed(service, phone)
    expect(refusal(await confirm(service, phone))).toEqual([429, 'rate_limited', []])
  })
})
