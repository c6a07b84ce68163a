import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { encodeCBOR, type CBORType } from '@levischuck/tiny-cbor'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import { describe, expect, test } from 'vitest'
import { signAssertion } from '../../../src/client/software-authenticator.ts'
import { attestationCertificate } from '../../certificate.ts'
import { acme, installHooks, service } from '../acme.ts'
import { fromPhone, linkFor, phoneRegistration } from '../page/phone.ts'
import { contentsOf, createMember, dataOf, refusal } from '../fixtures.ts'
import type { Answer } from '../harness.ts'

installHooks()

const setPolicy = async (policy: object) =>
  dataOf(await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } }))

type Made = ReturnType<typeof phoneRegistration>
const backupEligible = 8

/** With these flags set besides; nothing signs them where there is no attestation. */
const withFlags = ({ response }: Made, flags: number): void => {
  const bytes = Buffer.from(response.response.attestationObject, 'base64url')
  const at = bytes.indexOf(createHash('sha256').update('localhost').digest()) + 32
  bytes[at]! |= flags
  response.response.attestationObject = bytes.toString('base64url')
}

/** An attestation `packed`, signed with the key itself, or with one for which somebody made a certificate. */
const withPacked = (
  { key, response }: Made,
  signer?: { privateKey: KeyObject; certificate: Buffer },
): void => {
  const bytes = Buffer.from(response.response.attestationObject, 'base64url')
  const data = decodeAttestationObject(new Uint8Array(bytes)).get('authData')
  const client = new Uint8Array(Buffer.from(response.response.clientDataJSON, 'base64url'))
  const hash = createHash('sha256').update(client).digest()
  const signature = signer
    ? new Uint8Array(sign('sha256', Buffer.concat([data, hash]), signer.privateKey))
    : signAssertion(key, data, client)
  const statement = new Map<string, CBORType>([
    ['alg', -7],
    ['sig', signature],
  ])
  if (signer) statement.set('x5c', [new Uint8Array(signer.certificate)])
  const attestation = new Map<string, CBORType>([
    ['fmt', 'packed'],
    ['attStmt', statement],
    ['authData', data],
  ])
  response.response.attestationObject = Buffer.from(encodeCBOR(attestation)).toString('base64url')
}

const registerWith = async (change: (made: Made) => void = () => undefined): Promise<Answer> => {
  const ada = await createMember(service, acme.id, 1)
  const token = await linkFor(service, acme.id, ada.id)
  const made = phoneRegistration(dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } })))
  change(made)
  const body = { token, name: 'Pixel', response: made.response }
  return service.call('POST', '/svc/v1/devices', { key: null, body })
}

/** A key and a certificate for it that nobody has signed. */
const someone = () => {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { privateKey: keys.privateKey, certificate: attestationCertificate(keys) }
}

const zeros = '00000000-0000-0000-0000-000000000000'

describe('a registration', () => {
  test('stores what the device reports', async () => {
    expect(dataOf(await registerWith((made) => withFlags(made, backupEligible)))).toMatchObject({
      aaguid: zeros,
      backup_eligible: true,
      attestation_format: 'none',
    })
  })

  test('stores a packed attestation that was not requested', async () => {
    expect(dataOf(await registerWith((made) => withPacked(made)))).toMatchObject({
      attestation_format: 'packed',
      backup_eligible: false,
    })
  })

  test('with device_bound_only refuses a key that can be copied', async () => {
    await setPolicy({ device_bound_only: true })
    const answer = await registerWith((made) => withFlags(made, backupEligible))
    expect(refusal(answer)).toEqual([403, 'key_can_be_copied', []])
    expect((await contentsOf(service)).devices).toEqual([])
  })

  test('with device_bound_only accepts a key that cannot be copied', async () => {
    await setPolicy({ device_bound_only: true })
    expect(dataOf(await registerWith())).toMatchObject({ state: 'active', backup_eligible: false })
  })
})

/** What the browser says about where the key is. */
const from =
  (attachment: string | undefined, transports: string[] = []) =>
  ({ response }: Made): void => {
    const { authenticatorAttachment: _, ...rest } = response
    Object.assign(response, rest, { authenticatorAttachment: attachment })
    Object.assign(response.response, { transports })
  }
const synced = (made: Made): void => withFlags(made, backupEligible)
const securityKey = from('cross-platform', ['usb'])
const ofPhoneNearby = from('cross-platform', ['hybrid', 'internal'])

describe('with the policy authenticators', () => {
  test.each<[string, string, (made: Made) => void]>([
    ['platform', 'a key that stays on its device', from('platform', ['internal'])],
    ['platform', 'a phone that was used from a computer', ofPhoneNearby],
    ['synced', 'a synced passkey', synced],
    ['security_key', 'a security key', securityKey],
    ['security_key', 'a security key whose transports the browser does not know', from('cross-platform')],
  ])('%s accepts %s', async (allowed, _, change) => {
    await setPolicy({ authenticators: [allowed] })
    expect(dataOf(await registerWith(change))).toMatchObject({ state: 'active' })
  })

  test.each<[string[], string, (made: Made) => void]>([
    [['platform'], 'a security key', securityKey],
    [['platform'], 'a synced passkey, whatever the browser says', synced],
    [['synced', 'security_key'], 'a key that stays on its device', from('platform', ['internal'])],
    [['security_key'], 'a phone that was used from a computer', ofPhoneNearby],
    [['security_key'], 'a key of which nothing is known', from(undefined)],
  ])('%j refuses %s, and the link stays valid', async (authenticators, _, change) => {
    await setPolicy({ authenticators })
    const answer = await registerWith(change)
    expect(refusal(answer)).toEqual([403, 'authenticator_not_allowed', []])
    expect(answer.body.data.allowed).toEqual(authenticators)
    const { enrollments, devices } = await contentsOf(service)
    expect(devices).toEqual([])
    expect(enrollments).toMatchObject([{ used_at: null }])
  })

  test('the page is told what is accepted', async () => {
    await setPolicy({ authenticators: ['security_key', 'platform', 'platform'], device_bound_only: true })
    const ada = await createMember(service, acme.id, 1)
    const token = await linkFor(service, acme.id, ada.id)
    expect(dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))).toMatchObject({
      authenticators: ['platform', 'security_key'],
    })
  })

  test.each([
    [{ device_bound_only: true, authenticators: ['synced'] }],
    [{ attestation: 'direct', authenticators: ['security_key'] }],
  ])('%j is refused, because no device could register', async (policy) => {
    const answer = await service.call('PUT', `/organization/${acme.id}/update`, { body: { policy } })
    expect(refusal(answer)).toEqual([422, 'invalid_field', ['policy.authenticators']])
    expect(answer.body.data.issues).toHaveLength(1)
  })
})

describe('with attestation direct', () => {
  const cases: [string, ((made: Made) => void) | undefined][] = [
    ['that says nothing of its maker', undefined],
    ['that vouches for itself', (made) => withPacked(made)],
    ['for which somebody made a certificate', (made) => withPacked(made, someone())],
  ]

  test.each(cases)('a device %s is refused, and its link stays valid', async (_, change) => {
    await setPolicy({ attestation: 'direct' })
    expect(refusal(await registerWith(change))).toEqual([403, 'attestation_required', []])
    const { enrollments, devices } = await contentsOf(service)
    expect(devices).toEqual([])
    expect(enrollments).toMatchObject([{ used_at: null }])
  })

  test.each(cases)('a list of models alone also refuses a device %s', async (_, change) => {
    await setPolicy({ allowed_aaguids: [zeros] })
    expect(refusal(await registerWith(change))).toEqual([403, 'attestation_required', []])
  })

  test('the page asks for it', async () => {
    await setPolicy({ attestation: 'direct' })
    const ada = await createMember(service, acme.id, 1)
    const token = await linkFor(service, acme.id, ada.id)
    expect(dataOf(await fromPhone(service, 'POST', 'enrollment', { body: { token } }))).toMatchObject({
      attestation: 'direct',
    })
  })

  test('refuses a signature that does not match the certificate', async () => {
    const one = someone()
    const mixed = { privateKey: someone().privateKey, certificate: one.certificate }
    expect(refusal(await registerWith((made) => withPacked(made, mixed)))).toEqual([
      422,
      'registration_refused',
      ['response'],
    ])
  })
})

test('a model is stored in one spelling, once', async () => {
  const upper = '08987058-CADC-4B81-B6E1-30DE50DCBE96'
  expect((await setPolicy({ allowed_aaguids: [upper, upper.toLowerCase()] })).policy.allowed_aaguids).toEqual(
    [upper.toLowerCase()],
  )
  const answer = await service.call('PUT', `/organization/${acme.id}/update`, {
    body: { policy: { allowed_aaguids: ['x'] } },
  })
  expect(refusal(answer)).toEqual([422, 'invalid_field', ['policy.allowed_aaguids[0]']])
})
