import { createHash } from 'node:crypto'
import { encodeCBOR } from '@levischuck/tiny-cbor'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Evidence, verifyEvidence } from '../../src/receipt/evidence.ts'
import { forgeAssertion } from './forge-assertion.ts'
import { approverKey, credentialOf, site } from './specimen.ts'

const challenge = 'Y2hhbGxlbmdl'
const keys = (['ES256', 'EdDSA'] as const).map(approverKey)
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

type Change = {
  key: number
  signer: number
  flags: number
  rpId: string
  counter: number
  storedCounter: number
  extensions: Buffer
  client: object
  presence: boolean
  /** A bit of the last number of the signature to turn over: that library also accepts other encodings. */
  bit: number | undefined
}

const evidenceOf = ({ key, signer, flags, rpId, counter, extensions, client, bit }: Change): Evidence => {
  const ceremony = { challenge, origin: site.origin, rpId: site.rp_id }
  const head = Buffer.alloc(5)
  head.writeUInt8(flags, 0)
  head.writeUInt32BE(counter, 1)
  const data = (): Buffer => Buffer.concat([hashOf(rpId), head, extensions])
  const { response } = forgeAssertion(keys[signer]!, ceremony, { data, client })
  const signature = Buffer.from(response.signature, 'base64url')
  if (bit !== undefined) signature[signature.length - 1 - (bit >> 3)]! ^= 1 << (bit & 7)
  const { counter: _, ...credential } = credentialOf(keys[key]!)
  return {
    ...credential,
    ...site,
    authenticator_data: response.authenticatorData,
    client_data_json: response.clientDataJSON,
    signature: signature.toString('base64url'),
  }
}

/** The verdict of another library, which the pages of many services use. */
const accepts = async (evidence: Evidence, { storedCounter, presence }: Change): Promise<boolean> => {
  const { credential_id: id, authenticator_data, client_data_json, signature, public_key } = evidence
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          authenticatorData: authenticator_data,
          clientDataJSON: client_data_json,
          signature,
        },
      },
      expectedType: 'webauthn.get',
      expectedChallenge: challenge,
      expectedOrigin: evidence.origin,
      expectedRPID: evidence.rp_id,
      requireUserVerification: !presence,
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(public_key, 'base64url')),
        counter: storedCounter,
      },
    })
    return verified
  } catch {
    return false
  }
}

/** Mostly as it should be, so that each check decides some of the cases. */
const mostly = <T>(value: T, ...others: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: fc.constant(value), weight: 12 }, ...others)

const extensionsOf = (value: Map<string, number | Map<string, number>>): Buffer =>
  Buffer.from(encodeCBOR(value))

/** Everything but attested credential data (flag 6), which only a registration has. */
const changes: fc.Arbitrary<Change> = fc.record({
  key: mostly(0, fc.constant(1)),
  signer: mostly(0, fc.constant(1)),
  flags: mostly(
    5,
    fc.integer({ min: 0, max: 255 }).map((flags) => flags & ~0x40),
    fc.constant(5 | 0x80),
  ),
  rpId: mostly(site.rp_id, fc.constant('example.com')),
  counter: mostly(0, fc.nat(9), fc.constant(0xffffffff)),
  storedCounter: mostly(0, fc.nat(9)),
  extensions: mostly(
    Buffer.alloc(0),
    fc.constant(Buffer.alloc(1)),
    fc.constant(extensionsOf(new Map([['credProps', new Map([['rk', 1]])]]))),
    fc.constant(Buffer.from('a1616118ff00', 'hex')),
    // The number 1 in two bytes.
    fc.constant(Buffer.from('a161611801', 'hex')),
    fc.constantFrom('a0', 'a000', 'a1', 'ff', 'a2616101').map((hex) => Buffer.from(hex, 'hex')),
    fc.dictionary(fc.string(), fc.nat()).map((some) => extensionsOf(new Map(Object.entries(some)))),
  ),
  client: mostly<object>(
    {},
    fc.constantFrom<object>(
      { type: 'webauthn.create' },
      { type: undefined },
      { challenge: `${challenge}=` },
      { origin: `${site.origin}/` },
      { crossOrigin: false },
      { crossOrigin: true, topOrigin: site.origin },
      { topOrigin: site.origin },
      { tokenBinding: { status: 'present', id: 'x' } },
      { tokenBinding: { status: 'other' } },
      { tokenBinding: {} },
      { tokenBinding: 'present' },
      { tokenBinding: null },
      { more: 1 },
    ),
  ),
  presence: fc.boolean(),
  bit: mostly<number | undefined>(undefined, fc.nat(127)),
})

describe('evidence', () => {
  test('is judged as by another WebAuthn library', async () => {
    const verdicts = new Set<boolean>()
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const evidence = evidenceOf(change)
        const { storedCounter, presence } = change
        const { ok } = verifyEvidence(evidence, challenge, { storedCounter, presence })
        expect(ok).toBe(await accepts(evidence, change))
        verdicts.add(ok)
      }),
      { numRuns: 400 },
    )
    expect(verdicts.size).toBe(2)
  })

  test.each([
    ['of a registration', 0x40, '00'.repeat(18) + 'a0', 'The authenticator data is of a registration'],
    ['with extensions in a list', 0x80, '80', 'The extensions are not a map in canonical form'],
    ['with extensions in a text', 0x80, '6100', 'The extensions are not a map in canonical form'],
  ])('is refused %s, which the other library accepts', (_, flag, hex, problem) => {
    const honest = { key: 0, signer: 0, rpId: site.rp_id, counter: 0, storedCounter: 0, client: {} }
    const more = { flags: 5 | flag, extensions: Buffer.from(hex, 'hex'), presence: false, bit: undefined }
    expect(verifyEvidence(evidenceOf({ ...honest, ...more }), challenge)).toEqual({ ok: false, problem })
  })
})
