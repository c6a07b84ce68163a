import { describe, expect, test } from 'vitest'
import { digitsOf, type Phone } from '../page/phone.ts'
import { ask } from '../approver.ts'
import { day } from '../clock.ts'
import { moveDevice, signIn } from '../devices/moves.ts'
import { ada as details, createTenant, dataOf, refusal } from '../fixtures.ts'
import { callTools, sendForm } from '../mcp/oauth-client.ts'
import { call } from '../mcp/http-tools.ts'
import {
  acme,
  clock,
  createKey,
  createUser,
  enrollWith,
  installHooks,
  moveUser,
  outcomeOf,
  registerPhone,
  sentToken,
  service,
  setPolicy,
  signedIn,
} from './one-key.ts'

// Every way in which one key with every scope could get an approval without a person. Each ends in a refusal under the policy
// `strict`, or in a receipt that `verify --separation strict` rejects.

installHooks()

const refused = { refused: 'approver_not_separated' }
const creator = { relation: 'creator', failed: ['strict separation'] }

/** Asks with a key that can only ask, without the policy and with it. */
const bothWith = async (key: string, phone: Phone) => {
  const standard = await outcomeOf({ key }, phone)
  await setPolicy({ separation: 'strict' })
  return [standard, await outcomeOf({ key }, phone)]
}
const both = async (phone: Phone) => bothWith((await createKey(['ask'])).key, phone)

const app = (path: string, body: object) => service.call('POST', path, { key: acme.key, body })

const createBelow = (key: string, n: number) =>
  service.call('POST', '/svc/v1/keys', {
    key,
    body: { name: `key ${n}`, scopes: ['keys', 'devices', 'ask'] },
  })

const otpFor = async (mobile: string): Promise<string> => {
  const sent = (await service.messages()).filter(({ kind, to }) => kind === 'otp' && to === mobile)
  return /\b\d{6}\b/.exec(sent.at(-1)!.text)![0]
}

describe('one key, asking itself,', () => {
  const attempts: [string, () => Promise<unknown>][] = [
    ['over REST', () => ask(service, { mobile: '+12025550101' }, {}, acme.key)],
    [
      'by e-mail',
      () =>
        service.call('POST', '/send-auth-request-by-email', {
          key: acme.key,
          body: { email: 'user1@acme.example', action: 'Deploy' },
        }),
    ],
    [
      'from app to app',
      () =>
        service.call('POST', '/send/app-auth/notification', {
          key: acme.key,
          body: { from_mobile: '+12025550102', to_mobile: '+12025550101', action: 'Deploy' },
        }),
    ],
  ]
  test.each(attempts)('is refused under strict %s', async (_, attempt) => {
    await enrollWith(await createUser(1))
    await createUser(2)
    await setPolicy({ separation: 'strict' })
    expect(refusal((await attempt()) as never)).toEqual([403, 'not_separated', []])
  })

  test('is refused under strict at the tool server', async () => {
    await enrollWith(await createUser(1))
    await setPolicy({ separation: 'strict' })
    const args = { action: 'Deploy', approver_mobile: '+12025550101' }
    const { text } = await callTools(service, acme.key, call('request_approval_async', args))
    expect(text).toContain('can influence who approves')
  })

  test('gets a receipt that no flag accepts, also from a phone of a child key', async () => {
    const child = await createKey(['devices'])
    const phone = await enrollWith(await createUser(1), child.key)
    expect(await outcomeOf({ key: acme.key }, phone, ['--allow-unseparated'])).toEqual({
      relation: 'self',
      failed: ['enrollment'],
    })
  })
})

describe('a child key of it gets nothing that strict accepts from a phone that it enrolled', () => {
  test('with another child key', async () => {
    const child = await createKey(['devices'])
    expect(await both(await enrollWith(await createUser(1), child.key))).toEqual([creator, refused])
  })

  test('with a secret that a rotation replaced, before the key that enrolled it was revoked', async () => {
    const child = await createKey(['devices', 'keys'])
    const rotated = dataOf(
      await service.call('POST', `/svc/v1/keys/${child.id}/rotate`, { key: child.key, body: {} }),
    )
    const phone = await enrollWith(await createUser(1), rotated.key)
    dataOf(await service.call('DELETE', `/svc/v1/keys/${rotated.id}`, { key: acme.key }))
    expect(await both(phone)).toEqual([creator, refused])
  })

  test('if the phone asks for a link by accepting its user again', async () => {
    const user = await createUser(1)
    const path = `/organization/${acme.id}/user/${user.id}`
    dataOf(await service.call('POST', `${path}/pending`, { key: acme.key, body: {} }))
    dataOf(await service.call('POST', `${path}/accept`, { key: acme.key, body: {} }))
    expect(await both(await registerPhone(user, await sentToken()))).toEqual([creator, refused])
  })

  test('if the person joined with the mobile app and an auth code', async () => {
    const mobile = '+12025550177'
    const { registration_token } = dataOf(
      await app('/wp/register/mobile/user', {
        ...details,
        mobile: '2025550177',
        email: 'x@evil.example',
      }),
    )
    dataOf(await app('/wp/send/sms', { mobile }))
    dataOf(await app('/wp/confirm/register', { mobile, otp: await otpFor(mobile), registration_token }))
    const code = dataOf(await app(`/organization/${acme.id}/create/auth-code`, { label: 'mine' })).code
    const { user_id } = dataOf(await app('/user/assign-org', { mobile, auth_code: code }))
    dataOf(await app(`/organization/${acme.id}/user/${user_id}/accept`, {}))
    const phone = await registerPhone({ id: user_id, mobile_e164: mobile }, await sentToken())
    expect(await both(phone)).toEqual([creator, refused])
  })

  test('with a code by SMS to the number that it chose', async () => {
    await setPolicy({ device_proof: 'otp' })
    const phone = await enrollWith(await createUser(1))
    const code = /\b\d{6}\b/.exec((await service.messages()).findLast(({ kind }) => kind === 'otp')!.text)![0]
    dataOf(await signIn(service, phone.key, code))
    expect(await both(phone)).toEqual([creator, refused])
  })

  test('if an administrator that it made sent the link', async () => {
    const admin = await enrollWith(await createUser(9, acme.key, { role: 'admin' }))
    const user = await createUser(1)
    dataOf(await moveUser(admin, user.id, 'link'))
    expect(await both(await registerPhone(user, await sentToken()))).toEqual([creator, refused])
  })
})

describe('one key cannot', () => {
  test('give a person another number', async () => {
    const user = await createUser(1)
    const body = { mobile: '2025550155' }
    const path = `/organization/${acme.id}/update/user/${user.id}`
    expect(refusal(await service.call('PUT', path, { key: acme.key, body }))).toEqual([
      409,
      'mobile_is_identity',
      [],
    ])
  })

  test('approve the phone of a person whom it deleted and created again', async () => {
    const user = await createUser(1)
    await enrollWith(user)
    const path = `/organization/${acme.id}/delete/user/${user.id}`
    dataOf(await service.call('DELETE', path, { key: acme.key }))
    const phone = await enrollWith(await createUser(1))
    const approve = `/svc/v1/organizations/${acme.id}/devices/${phone.device}/approve`
    const answer = await service.call('POST', approve, { key: acme.key, body: digitsOf(phone) })
    expect(refusal(answer)).toEqual([403, 'operator_only', []])
    clock.tick(2 * day)
    expect(refusal(await signIn(service, phone.key))).toEqual([403, 'device_pending', []])
  })

  test('approve a recovery with an administrator that it promoted', async () => {
    const admin = await enrollWith(await createUser(9))
    const promote = { org_id: acme.id, user_id: admin.user }
    dataOf(await service.call('POST', '/make-admin', { key: acme.key, body: promote }))
    const user = await createUser(1, service.operatorKey)
    const lost = await enrollWith(user, service.operatorKey)
    const path = `/svc/v1/organizations/${acme.id}/devices/${lost.device}`
    dataOf(await service.call('DELETE', path, { key: acme.key }))
    const phone = await enrollWith(user)
    clock.tick(2 * day)
    const answer = await moveDevice(service, await signedIn(admin), phone.device)
    expect(refusal(answer)).toEqual([403, 'recovery_not_separated', []])
  })

  test('create or enter another organization', async () => {
    const body = { name: 'Mine', ...details }
    const made = await service.call('POST', '/organization/create/onboarding', { key: acme.key, body })
    expect(made.status).toBe(403)
    const globex = await createTenant(service, 'globex')
    const path = `/svc/v1/organizations/${globex.id}/users/1/enrollments`
    expect((await service.call('POST', path, { key: acme.key, body: {} })).status).toBe(404)
  })

  test('renew the token of an agent, or use a code of the app for one', async () => {
    for (const grant_type of ['refresh_token', 'client_credentials', 'password'])
      expect(
        (await sendForm(service, '/token', { grant_type, refresh_token: 'x', client_id: 'x' })).status,
      ).toBe(400)
  })

  test('create so many keys below each other that the first one is lost', async () => {
    let last = acme.key
    let answer = await createBelow(last, 0)
    for (let made = 1; answer.status === 200 && made < 30; made++) {
      last = dataOf(answer).key
      answer = await createBelow(last, made)
    }
    expect(refusal(answer)).toEqual([409, 'too_many_creators', []])
    const phone = await enrollWith(await createUser(1), last)
    expect(await outcomeOf({ key: acme.key }, phone)).toMatchObject({ relation: 'self' })
  })

  test('turn strict off', async () => {
    await setPolicy({ separation: 'strict' })
    const body = { policy: { separation: 'standard' } }
    const path = `/organization/${acme.id}/update`
    expect(refusal(await service.call('PUT', path, { key: acme.key, body }))[1]).toBe('policy_protected')
  })
})
