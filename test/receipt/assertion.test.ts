import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { describe, expect, test } from 'vitest'
import { assert } from '../../src/client/software-authenticator.ts'
import { verifyAssertion } from '../../src/receipt/assertion.ts'
import { forgeAssertion, withCounter, withFlags, withRelyingParty, type Forgery } from './forge-assertion.ts'
import { approverKey, credentialOf, site } from './specimen.ts'

const challenge = 'Y2hhbGxlbmdl'
const ceremony = { challenge, origin: site.origin, rpId: site.rp_id }
const key = approverKey()
const posted = assert(key, ceremony)
const check = (value: unknown, credential = credentialOf(key), at = site, expected = challenge) =>
  verifyAssertion(value, credential, at, expected)

const signed = (change: Forgery, by = key) => ({
  ...forgeAssertion(by, ceremony, change),
  id: key.credential_id,
  rawId: key.credential_id,
})

/** Two numbers in DER, with an optional wrong tag. */
const spell = (first: Buffer, second: Buffer, tag = 0x30): string => {
  const body = [Buffer.from([2, first.length]), first, Buffer.from([2, second.length]), second]
  const all = Buffer.concat(body)
  return Buffer.concat([Buffer.from([tag, all.length]), all]).toString('base64url')
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))

type Member = [name: number, value: number | Uint8Array]

/** The same key, written in another way. */
const respelled =
  (change: (members: Member[]) => Member[]) =>
  (cose: string): string => {
    const members = decodeCBOR(bytes(cose)) as Map<number, number>
    return Buffer.from(encodeCBOR(new Map(change([...members])))).toString('base64url')
  }

describe('an assertion', () => {
  test('is evidence if it is valid', async () => {
    expect(await check(posted)).toEqual({
      ok: true,
      user_verified: true,
      counter: 0,
      backup_eligible: false,
      backed_up: false,
      evidence: {
        credential_id: key.credential_id,
        public_key: key.public_key_cose,
        algorithm: -7,
        user_handle: key.user_handle,
        authenticator_data: posted.response.authenticatorData,
        client_data_json: posted.response.clientDataJSON,
        signature: posted.response.signature,
        ...site,
      },
    })
  })

  test('reports a synced key', async () => {
    const synced = await check(signed({ data: withFlags(1 | 4 | 8 | 16) }))
    expect(synced).toMatchObject({ ok: true, backup_eligible: true, backed_up: true })
  })

  test('has an increasing counter, or always zero', async () => {
    const five = { ...credentialOf(key), counter: 5 }
    expect(await check(signed({ data: withCounter(6) }), five)).toMatchObject({ ok: true, counter: 6 })
    for (const count of [0, 4, 5])
      expect(await check(signed({ data: withCounter(count) }), five)).toMatchObject({ ok: false })
    expect(await check(signed({ data: withCounter(0) }))).toMatchObject({ ok: true, counter: 0 })
  })

  test.each<[string, Forgery]>([
    ['nobody was present', { data: withFlags(4) }],
    ['nobody was verified', { data: withFlags(1) }],
    ['a key is backed up but not eligible for backup', { data: withFlags(1 | 4 | 16) }],
    ['it is for another relying party', { data: withRelyingParty(Buffer.alloc(32)) }],
    ['bytes are left over', { data: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) }],
    ['bytes are missing', { data: (bytes) => bytes.subarray(0, 36) }],
    ['it is a registration', { client: { type: 'webauthn.create' } }],
    ['it is for another challenge', { client: { challenge: 'b3RoZXI' } }],
    ['it is from another origin', { client: { origin: 'https://approve.example.org' } }],
    ['the page was framed', { client: { crossOrigin: true } }],
    ['the page was framed by one that it names', { client: { crossOrigin: true, topOrigin: site.origin } }],
  ])('is rejected when %s, although its signature is valid', async (_, change) => {
    expect(await check(signed(change))).toMatchObject({ ok: false, problem: expect.stringMatching(/./) })
  })

  test('is rejected from another key, under either name', async () => {
    const stranger = approverKey()
    expect(await check(assert(stranger, ceremony))).toEqual({
      ok: false,
      problem: 'The assertion is from another key',
    })
    expect(await check(signed({}, stranger))).toMatchObject({ ok: false })
  })

  test('is rejected when it has two IDs', async () => {
    expect(await check({ ...posted, rawId: 'b3RoZXI' })).toEqual({
      ok: false,
      problem: 'The assertion is from another key',
    })
  })

  test.each([
    ['https://approve.example.com', 'example.com', true],
    ['https://approve.example.com:8443', 'approve.example.com', true],
    ['http://localhost:8080', 'localhost', true],
    ['http://127.0.0.1:8080', '127.0.0.1', true],
    ['https://approve.example.com/', 'approve.example.com', false],
    ['http://approve.example.com', 'approve.example.com', false],
    ['ftp://localhost', 'localhost', false],
    ['https://approve.example.com', 'com', false],
    ['https://approve.example.com', 'prove.example.com', false],
    ['https://example.com', 'approve.example.com', false],
    ['approve.example.com', 'approve.example.com', false],
  ])('from %s for %s counts: %s', async (origin, rp_id, ok) => {
    const data = withRelyingParty(createHash('sha256').update(rp_id).digest())
    const value = signed({ client: { origin }, data })
    expect(await check(value, credentialOf(key), { origin, rp_id })).toMatchObject({ ok })
  })

  test('is rejected for another user', async () => {
    const other = { ...posted, response: { ...posted.response, userHandle: 'b3RoZXI' } }
    expect(await check(other)).toMatchObject({ ok: false })
    const { userHandle: _, ...silent } = posted.response
    expect(await check({ ...posted, response: silent })).toMatchObject({ ok: true })
  })

  test('is rejected in another encoding of the same bytes', async () => {
    for (const field of ['authenticatorData', 'clientDataJSON', 'signature'] as const)
      for (const spelling of [`${posted.response[field]}=`, ` ${posted.response[field]}`, '', 7, undefined])
        expect(await check({ ...posted, response: { ...posted.response, [field]: spelling } })).toMatchObject(
          { ok: false },
        )
  })

  test('is rejected when DER encodes its signature differently, although the numbers are equal', async () => {
    const der = Buffer.from(posted.response.signature, 'base64url')
    const [r, s] = [der.subarray(4, 4 + der[3]!), der.subarray(6 + der[3]!)]
    const withSignature = (signature: string) =>
      check({ ...posted, response: { ...posted.response, signature } })
    const zero = Buffer.alloc(1)
    expect(await withSignature(spell(r, s))).toMatchObject({ ok: true })
    for (const other of [
      spell(r, s, 0xb0),
      spell(r, Buffer.concat([zero, s])),
      spell(Buffer.concat([zero, r]), s),
      Buffer.concat([der, zero]).toString('base64url'),
    ])
      expect(await withSignature(other)).toMatchObject({ ok: false })
  })

  test.each([
    ['has extra bytes', (cose: string) => `${cose}AA`],
    [
      'encodes a number with extra bytes',
      (cose: string) => {
        const hex = Buffer.from(cose, 'base64url').toString('hex')
        return Buffer.from(hex.replace('a50102', 'a5011802'), 'hex').toString('base64url')
      },
    ],
    ['has another member', respelled((members) => [...members, [2, new Uint8Array(1)]])],
    ['has its members in another order', respelled((members) => members.toReversed())],
    [
      'begins a coordinate with a zero',
      respelled((members) => members.with(3, [-2, new Uint8Array([0, ...(members[3]![1] as Uint8Array)])])),
    ],
    ['is not a map', () => 'AQ'],
    ['is empty', () => ''],
  ])('is rejected when the public key %s', async (_, spoil) => {
    const credential = credentialOf(key)
    expect(await check(posted, { ...credential, public_key: spoil(credential.public_key) })).toMatchObject({
      ok: false,
    })
  })

  test('is evidence by an RSA key, as of Windows Hello', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const { n, e } = publicKey.export({ format: 'jwk' })
    const cose = encodeCBOR(
      new Map<number, number | Uint8Array>([
        [1, 3],
        [3, -257],
        [-1, bytes(n!)],
        [-2, bytes(e!)],
      ]),
    )
    const { authenticatorData, clientDataJSON } = posted.response
    const digest = createHash('sha256').update(bytes(clientDataJSON)).digest()
    const signature = sign('sha256', Buffer.concat([bytes(authenticatorData), digest]), privateKey).toString(
      'base64url',
    )
    const value = { ...posted, response: { ...posted.response, signature } }
    const credential = {
      ...credentialOf(key),
      algorithm: -257 as const,
      public_key: Buffer.from(cose).toString('base64url'),
    }
    expect(await check(value, credential)).toMatchObject({ ok: true })
    expect(await check(posted, credential)).toMatchObject({ ok: false })
  })

  test('is rejected when the public key has another algorithm than the registered one', async () => {
    expect(await check(posted, { ...credentialOf(key), algorithm: -8 })).toMatchObject({ ok: false })
    expect(await check(posted, { ...credentialOf(key), algorithm: -65_535 as -7 })).toMatchObject({
      ok: false,
    })
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['text', 'x'],
    ['an array', []],
    ['an empty object', {}],
    ['a credential of another type', { ...posted, type: 'password' }],
    ['a credential without a response', { ...posted, response: null }],
  ])('is not %s', async (_, value) => {
    expect(await check(value)).toMatchObject({ ok: false })
  })
})
