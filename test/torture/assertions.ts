import { createHash, createPublicKey, verify } from 'node:crypto'
import { assert, createSoftwareKey, type SoftwareKey } from '../../src/client/software-authenticator.ts'
import { verifyAssertion } from '../../src/receipt/assertion.ts'
import {
  forgeAssertion,
  withCounter,
  withFlags,
  withRelyingParty,
  type Forgery,
} from '../receipt/forge-assertion.ts'
import { credentialOf, site } from '../receipt/specimen.ts'
import type { Result, Torture } from './torture.ts'

const tries = 1000
/** The last counter that the service stored. */
const seen = 7
const counting = withCounter(seen + 1)

type Assertion = ReturnType<typeof assert>
type Case = { key: SoftwareKey; stranger: SoftwareKey; challenge: string; at: number }

const ceremonyOf = ({ challenge }: Case) => ({ challenge, origin: site.origin, rpId: site.rp_id })
const honest = (one: Case, key = one.key) => forgeAssertion(key, ceremonyOf(one), { data: counting })
const signed =
  (change: Forgery) =>
  (one: Case): Assertion =>
    forgeAssertion(one.key, ceremonyOf(one), {
      ...change,
      data: (bytes) => (change.data ?? ((same) => same))(counting(bytes)),
    })

const flip =
  (field: 'authenticatorData' | 'clientDataJSON' | 'signature') =>
  (one: Case): Assertion => {
    const assertion = honest(one)
    const bytes = Buffer.from(assertion.response[field], 'base64url')
    bytes[one.at % bytes.length]! ^= 1 << (one.at % 8)
    return { ...assertion, response: { ...assertion.response, [field]: bytes.toString('base64url') } }
  }

const kinds: Record<string, (one: Case) => Assertion> = {
  'type of a registration': signed({ client: { type: 'webauthn.create' } }),
  'no type': signed({ client: { type: undefined } }),
  'challenge of another request': signed({ client: { challenge: 'b3RoZXI' } }),
  'challenge in another spelling': (one) => signed({ client: { challenge: `${one.challenge}=` } })(one),
  'foreign origin': signed({ client: { origin: 'https://approve.example.org' } }),
  'origin on another port': signed({ client: { origin: `${site.origin}:8443` } }),
  'http origin': signed({ client: { origin: site.origin.replace('https', 'http') } }),
  'framed page': signed({ client: { crossOrigin: true } }),
  'foreign relying party': signed({
    data: withRelyingParty(createHash('sha256').update('example.com').digest()),
  }),
  'nobody present': signed({ data: withFlags(4) }),
  'nobody verified': signed({ data: withFlags(1) }),
  'no flag at all': signed({ data: withFlags(0) }),
  'counter of before': (one) => signed({ data: withCounter(one.at % (seen + 1)) })(one),
  'bit of the authenticator data': flip('authenticatorData'),
  'bit of the client data': flip('clientDataJSON'),
  'bit of the signature': flip('signature'),
  "other's credential": (one) => honest(one, one.stranger),
  "other's key under this name": (one) => ({
    ...honest(one, one.stranger),
    id: one.key.credential_id,
    rawId: one.key.credential_id,
  }),
  "other's signature": (one) => {
    const { response, ...rest } = honest(one)
    return { ...rest, response: { ...response, signature: honest(one, one.stranger).response.signature } }
  },
  "other's user handle": (one) => {
    const { response, ...rest } = honest(one)
    return { ...rest, response: { ...response, userHandle: one.stranger.user_handle } }
  },
}

/** The broken variant verifies the signature, but not what was signed. */
const signatureAlone = ({ response }: Assertion, key: SoftwareKey): boolean => {
  const signedBytes = Buffer.concat([
    Buffer.from(response.authenticatorData, 'base64url'),
    createHash('sha256').update(Buffer.from(response.clientDataJSON, 'base64url')).digest(),
  ])
  const { d: _, ...half } = key.private_jwk
  return verify(
    key.alg === 'ES256' ? 'sha256' : null,
    signedBytes,
    createPublicKey({ key: half, format: 'jwk' }),
    Buffer.from(response.signature, 'base64url'),
  )
}

export const torture: Torture = {
  name: 'Mutated WebAuthn assertions, most of them with a valid signature over the mutation',
  must: '0 accepted, all genuine ones accepted',
  run: async (): Promise<Result> => {
    const hits: Record<string, number> = { genuine: 0 }
    const examples: string[] = []
    const named = Object.entries(kinds)
    let failures = 0
    let control = 0
    for (let at = 0; at < tries; at++) {
      const alg = at % 3 === 0 ? 'EdDSA' : 'ES256'
      const key = createSoftwareKey(alg, { rpId: site.rp_id })
      const stranger = createSoftwareKey(alg, { rpId: site.rp_id })
      const challenge = createHash('sha256').update(`request ${at}`).digest('base64url')
      const one: Case = { key, stranger, challenge, at }
      const check = (posted: Assertion) =>
        verifyAssertion(posted, { ...credentialOf(key), counter: seen }, site, challenge)

      const [kind, mutate] = named[at % named.length]!
      const mutated = mutate(one)
      hits[kind] = (hits[kind] ?? 0) + 1
      const genuine = await check(honest(one))
      if (genuine.ok) hits.genuine!++
      else examples.push(`a genuine one was rejected: ${genuine.problem}`)
      const accepted = (await check(mutated)).ok
      if (accepted) examples.push(`accepted: ${kind}`)
      failures += Number(accepted) + Number(!genuine.ok)
      control += Number(signatureAlone(mutated, key))
    }
    return { count: tries, failures, hits, control, examples: examples.slice(0, 8) }
  },
}
