import { beforeEach, describe, expect, test } from 'vitest'
import { verifyReceipt } from '../../../src/receipt/verify.ts'
import { acme, clock, service } from '../acme.ts'
import { answerTo, enrollPhone, fromPhone, registerPhone, type Phone } from '../page/phone.ts'
import { ask, decide } from '../approver.ts'
import { day, hour } from '../clock.ts'
import { createMember, dataOf, refusal } from '../fixtures.ts'
import { ada, admin, approveAsOperator, installHooks, replacement, revoke } from './lost-device.ts'
import { cookieFor, moveDevice, signIn } from './moves.ts'

// A full key of the organization makes itself an administrator, takes Ada's device away, and registers another as hers.

installHooks()

const keyOf = async (name: string, scopes: string[], key?: string): Promise<string> =>
  dataOf(await service.call('POST', '/svc/v1/keys', { key, body: { name, org_id: acme.id, scopes } })).key

/** A phone that `key` registers for a user. */
const phoneBy = async (key: string | undefined, id: string, mobile: string): Promise<Phone> => {
  const path = `/svc/v1/organizations/${acme.id}/users/${id}/enrollments`
  const { token } = dataOf(await service.call('POST', path, { key, body: {} }))
  return registerPhone(service, token, { id, mobile })
}

/** An administrator whom `by` creates, with a phone that `phone` registers. */
const administratorOf = async (by: string | undefined, phone = by): Promise<Phone> => {
  const body = {
    first_name: 'Mal',
    last_name: 'M',
    email: 'mal@acme.example',
    country_code: '+1',
    mobile: '2025550177',
  }
  const path = `/organization/${acme.id}/create/user`
  const { id } = dataOf(await service.call('POST', path, { key: by, body: { ...body, role: 'admin' } }))
  return phoneBy(phone, id, '+12025550177')
}

const approve = ({ key }: Phone, { device }: Phone) => moveDevice(service, { key }, device)
const notSeparated = [403, 'recovery_not_separated', []]

describe('a full key that tries to become Ada', () => {
  test('does not get an approval of hers: the administrator whom it made cannot approve the recovery', async () => {
    const asks = await keyOf('ci', ['ask'])
    const mal = await administratorOf(acme.key)
    const fake = await phoneBy(acme.key, ada.user, ada.mobile)
    clock.tick(25 * hour)
    expect(refusal(await approve(mal, fake))).toEqual(notSeparated)
    clock.tick(25 * hour)
    expect(refusal(await signIn(service, fake.key))).toEqual([403, 'device_pending', []])
    expect(refusal(await ask(service, ada, {}, asks))).toEqual([409, 'approver_not_enrolled', []])
  })

  test('is stopped also with a child key, and if it asks with one', async () => {
    const child = await keyOf('child', ['people', 'devices'], acme.key)
    const mal = await administratorOf(acme.key)
    const fake = await phoneBy(child, ada.user, ada.mobile)
    clock.tick(25 * hour)
    expect(refusal(await approve(mal, fake))).toEqual(notSeparated)
  })

  test.each([
    ['appointed, although the operator registered their phone', () => administratorOf(acme.key, undefined)],
    ['gave a phone, although the operator appointed them', () => administratorOf(undefined, acme.key)],
  ])('is stopped with an administrator whom it %s', async (_, administrator) => {
    const mal = await administrator()
    const fake = await phoneBy(acme.key, ada.user, ada.mobile)
    clock.tick(25 * hour)
    expect(refusal(await approve(mal, fake))).toEqual(notSeparated)
  })

  test('is stopped with a sibling key that the same key of the organization created', async () => {
    const [one, two] = [await keyOf('one', ['all'], acme.key), await keyOf('two', ['all'], acme.key)]
    const mal = await administratorOf(one)
    const fake = await phoneBy(two, ada.user, ada.mobile)
    clock.tick(25 * hour)
    expect(refusal(await approve(mal, fake))).toEqual(notSeparated)
  })

  test('gets no first device for her either, after she was removed and added again', async () => {
    const body = { org_id: acme.id, user_id: ada.user }
    dataOf(await service.call('POST', '/organization/remove/user', { key: acme.key, body }))
    await createMember(service, acme.id, 1)
    const fake = await phoneBy(acme.key, ada.user, ada.mobile)
    const devices = `/svc/v1/organizations/${acme.id}/users/${ada.user}/devices`
    expect(dataOf(await service.call('GET', devices)).at(-1)).toMatchObject({
      id: fake.device,
      proof: 'admin',
    })
  })

  test('gets none after she was deleted and created again', async () => {
    dataOf(
      await service.call('DELETE', `/organization/${acme.id}/delete/user/${ada.user}`, { key: acme.key }),
    )
    const { id } = await createMember(service, acme.id, 1)
    expect(id).toBe(ada.user)
    const fake = await phoneBy(acme.key, ada.user, ada.mobile)
    const devices = `/svc/v1/organizations/${acme.id}/users/${ada.user}/devices`
    expect(dataOf(await service.call('GET', devices)).at(-1)).toMatchObject({
      id: fake.device,
      proof: 'admin',
    })
  })
})

describe('a device that a stolen phone added and did not approve', () => {
  test('is refused when a key revokes the phone, so no administrator of that key can approve it', async () => {
    dataOf(await approve(admin, replacement))
    clock.tick(2 * day)
    const mal = await administratorOf(acme.key)
    clock.tick(2 * day)
    const stolen = { ...replacement, cookie: await cookieFor(service, replacement.key) }
    const { challenge } = dataOf(
      await fromPhone(service, 'POST', 'device-link/challenge', { cookie: stolen.cookie }),
    )
    const { url } = dataOf(
      await fromPhone(service, 'POST', 'device-link', {
        cookie: stolen.cookie,
        body: { challenge, response: answerTo(challenge, stolen.key) },
      }),
    )
    const added = await registerPhone(service, new URL(url).hash.slice('#enroll='.length), {
      id: ada.user,
      mobile: ada.mobile,
    })
    const path = `/svc/v1/organizations/${acme.id}/devices/${stolen.device}`
    dataOf(await service.call('DELETE', path, { key: acme.key }))
    expect(refusal(await approve(mal, added))).toEqual([409, 'device_refused', []])
    clock.tick(2 * day)
    expect((await signIn(service, added.key)).status).toBe(403)
  })
})

describe('a recovery that a key of the organization asks for', () => {
  let lost: Phone
  beforeEach(async () => {
    lost = await phoneBy(acme.key, ada.user, ada.mobile)
  })

  test('is approved by an administrator whom another key appointed and gave a phone', async () => {
    const asks = await keyOf('ci', ['ask'])
    dataOf(await approve(admin, lost))
    clock.tick(day)
    dataOf(await signIn(service, lost.key))
    const { request_id } = dataOf(await ask(service, ada, {}, asks))
    const { attestation } = dataOf(await decide(service, request_id, lost.key))
    const { body } = await service.call('GET', '/.well-known/jwks.json', { key: null })
    const wanted = { organization: 'acme', issuer: attestation.claims.iss, separation: 'strict' as const }
    expect((await verifyReceipt(attestation, body, wanted, new Date(clock.iso()))).valid).toBe(true)
  })

  test('is approved by an administrator of another key that the operator created', async () => {
    const other = await keyOf('other', ['all'])
    const bob = await administratorOf(other)
    clock.tick(25 * hour)
    expect(dataOf(await approve(bob, lost))).toMatchObject({ id: lost.device, state: 'pending' })
  })

  test('is approved by the operator if every administrator goes back to that key', async () => {
    await administratorOf(acme.key)
    clock.tick(25 * hour)
    expect(refusal(await approveAsOperator(lost))).toEqual([409, 'administrator_approves', []])
    dataOf(await revoke(admin.device))
    dataOf(await approveAsOperator(lost))
  })

  test('is not approved by an administrator whose origin is not recorded', async () => {
    await service.runSql('DELETE FROM appointments', [])
    expect(refusal(await approve(admin, lost))).toEqual(notSeparated)
    dataOf(await approveAsOperator(lost))
  })
})

test('a recovery with a link of the operator is approved by an administrator of the operator', async () => {
  const own = await enrollPhone(service, acme.id, { id: ada.user, mobile: ada.mobile })
  expect(dataOf(await approve(admin, own))).toMatchObject({ id: own.device, state: 'pending' })
})
