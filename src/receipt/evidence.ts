import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import * as z from 'zod/mini'
import { fromBase64url, fromUtf8, parseExact, toBase64url } from '../core/exact-json.ts'
import { isLoopbackHost } from '../core/loopback.ts'

export const base64url = z.string().check(z.regex(/^[\w-]+$/, 'is not base64url'))

/** The human's signature, with everything needed to verify it offline. Bytes are base64url. */
export const evidenceShape = z.strictObject({
  credential_id: base64url,
  /** COSE_Key, CBOR. */
  public_key: base64url,
  /** COSE algorithm: ES256 (-7), EdDSA (-8) or RS256 (-257). */
  algorithm: z.union([z.literal(-7), z.literal(-8), z.literal(-257)], 'is not ES256, EdDSA or RS256'),
  authenticator_data: base64url,
  client_data_json: base64url,
  signature: base64url,
  user_handle: z.optional(base64url),
  /** The origin and the relying party that the service expects, never those that the client claims. */
  origin: z.string(),
  rp_id: z.string(),
})

export type Evidence = z.infer<typeof evidenceShape>

export type EvidenceCheck =
  | { ok: true; user_verified: boolean; counter: number; backup_eligible: boolean; backed_up: boolean }
  | { ok: false; problem: string }

/** What the authenticator and the browser reported, unchecked. Throws if it cannot be parsed. */
export const readEvidence = (evidence: Evidence) => {
  const data = fromBase64url(evidence.authenticator_data)
  const client = parseExact(fromUtf8(fromBase64url(evidence.client_data_json))) as Record<string, unknown>
  const flag = (bit: number): boolean => ((data[32] ?? 0) & (1 << bit)) !== 0
  return {
    client,
    user_present: flag(0),
    user_verified: flag(2),
    backup_eligible: flag(3),
    backed_up: flag(4),
  }
}

const siteProblem = ({ origin, rp_id }: Evidence): string | undefined => {
  const url = new URL(origin)
  if (url.origin !== origin) return 'The origin is not an origin'
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    return 'The origin is neither https nor a loopback address'
  const within = url.hostname === rp_id || (rp_id.includes('.') && url.hostname.endsWith(`.${rp_id}`))
  return within ? undefined : 'The relying party does not belong to the origin'
}

const isOf32 = (value: unknown): boolean => value instanceof Uint8Array && value.length === 32
const isNumber = (value: unknown): boolean => value instanceof Uint8Array && (value[0] ?? 0) !== 0

// COSE: kty (1), alg (3), and only what each type requires, in the order of CTAP: crv (-1), x (-2) and y (-3), or n (-1) and
// e (-2). So two keys that are written differently are two keys, and nobody counts twice.
const keyMembers = {
  [-7]: { 1: 2, 3: -7, [-1]: 1, [-2]: isOf32, [-3]: isOf32 },
  [-8]: { 1: 1, 3: -8, [-1]: 6, [-2]: isOf32 },
  [-257]: { 1: 3, 3: -257, [-1]: isNumber, [-2]: isNumber },
}

const keyProblem = ({ algorithm, public_key }: Evidence): string | undefined => {
  const key = decodeCBOR(fromBase64url(public_key))
  if (!(key instanceof Map)) return 'The public key is not a COSE key'
  if (toBase64url(encodeCBOR(key)) !== public_key) return 'The public key is not in canonical form'
  const members = Object.entries(keyMembers[algorithm])
  const fits = members.every(([name, wanted]) => {
    const value = key.get(Number(name))
    return typeof wanted === 'function' ? wanted(value) : value === wanted
  })
  const names = members.map(([name]) => name).join()
  return fits && [...key.keys()].join() === names ? undefined : 'The public key does not match its algorithm'
}

/** Whether an ECDSA signature is canonical DER; the library also accepts other encodings. */
const isCanonicalDer = (bytes: Uint8Array): boolean => {
  const afterInteger = (at: number): number => {
    const [tag, length, first, second] = bytes.subarray(at)
    const shortest = tag === 2 && first! < 0x80 && (first !== 0 || second! >= 0x80)
    return shortest ? at + 2 + length! : NaN
  }
  return bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && afterInteger(afterInteger(2)) === bytes.length
}

const signatureProblem = ({ algorithm, signature }: Evidence): string | undefined => {
  const bytes = fromBase64url(signature)
  return algorithm !== -7 || isCanonicalDer(bytes) ? undefined : 'The signature is not canonical DER'
}

/**
 * Checks one assertion, offline: its type, challenge, origin, relying party, user presence, user verification and
 * signature. `storedCounter` is the last counter seen; 0 after 0 passes, because synced passkeys do not count. `presence`: the
 * device need not have verified its user. Never throws.
 */
export const verifyEvidence = async (
  evidence: Evidence,
  expectedChallenge: string,
  { storedCounter = 0, presence = false }: { storedCounter?: number; presence?: boolean } = {},
): Promise<EvidenceCheck> => {
  try {
    const { client, user_verified, backup_eligible, backed_up } = readEvidence(evidence)
    // The library accepts a framed page if the browser reports no top origin; ours is never framed.
    const framed = (client.crossOrigin ?? false) !== false || client.topOrigin !== undefined
    const problem = framed
      ? 'The page was inside another page'
      : siteProblem(evidence) || keyProblem(evidence) || signatureProblem(evidence)
    if (problem) return { ok: false, problem }
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: evidence.credential_id,
        rawId: evidence.credential_id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          authenticatorData: evidence.authenticator_data,
          clientDataJSON: evidence.client_data_json,
          signature: evidence.signature,
        },
      },
      expectedType: 'webauthn.get',
      expectedChallenge,
      expectedOrigin: evidence.origin,
      expectedRPID: evidence.rp_id,
      requireUserVerification: !presence,
      credential: {
        id: evidence.credential_id,
        publicKey: Uint8Array.from(fromBase64url(evidence.public_key)),
        counter: storedCounter,
      },
    })
    if (!verified) return { ok: false, problem: 'The signature does not match this key and data' }
    return { ok: true, user_verified, counter: authenticationInfo.newCounter, backup_eligible, backed_up }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'The assertion cannot be read' }
  }
}
