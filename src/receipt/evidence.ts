import { createHash } from 'node:crypto'
import { decodePartialCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import * as z from 'zod/mini'
import { fromBase64url, fromUtf8, parseExact } from '../core/exact-json.ts'
import { sha256 } from '../core/ids.ts'
import { isLoopbackHost } from '../core/loopback.ts'
import { signatureProblem } from './device-key.ts'

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

/** What the authenticator reported, unchecked. Throws if it cannot be read. */
export const flagsOf = ({ authenticator_data }: Evidence) => {
  const data = fromBase64url(authenticator_data)
  const flag = (bit: number): boolean => ((data[32] ?? 0) & (1 << bit)) !== 0
  return {
    data,
    user_present: flag(0),
    user_verified: flag(2),
    backup_eligible: flag(3),
    backed_up: flag(4),
  }
}

export type Flags = Omit<ReturnType<typeof flagsOf>, 'data'>

/** What the authenticator and the browser reported, unchecked. Throws if it cannot be parsed. */
export const readEvidence = (evidence: Evidence) => {
  const client_data = fromBase64url(evidence.client_data_json)
  const client = parseExact(fromUtf8(client_data)) as Record<string, unknown>
  return { client, client_data, ...flagsOf(evidence) }
}

/** The relying party (SHA-256, hex) and the counter. Throws for data that an authenticator does not sign in an assertion. */
const readData = (data: Uint8Array): { rp_id_hash: string; counter: number } => {
  if (data.length < 37) throw new TypeError(`The authenticator data has ${data.length} bytes, fewer than 37`)
  const flags = data[32]!
  if (flags & 0x40) throw new TypeError('The authenticator data is of a registration')
  let end = 37
  if (flags & 0x80) {
    // A copy, because this parser reads the whole buffer.
    const [extensions, length] = decodePartialCBOR(new Uint8Array(data), end)
    if (!(extensions instanceof Map) || encodeCBOR(extensions).length !== length)
      throw new TypeError('The extensions are not a map in canonical form')
    end += length
  }
  if (end !== data.length) throw new TypeError('The authenticator data has bytes left over')
  return {
    rp_id_hash: Buffer.from(data.subarray(0, 32)).toString('hex'),
    counter: new DataView(data.buffer, data.byteOffset).getUint32(33),
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

const clientProblem = (
  client: Record<string, unknown>,
  challenge: string,
  origin: string,
): string | undefined => {
  const { type, tokenBinding } = client
  // A framed page, even where the browser reports no top origin; ours is never framed.
  const framed = (client['crossOrigin'] ?? false) !== false || client['topOrigin'] !== undefined
  if (framed) return 'The page was inside another page'
  if (type !== 'webauthn.get') return `The client data is of type ${String(type)}, not webauthn.get`
  if (client['challenge'] !== challenge) return 'The challenge is another one'
  if (client['origin'] !== origin) return `The origin is ${String(client['origin'])}, not ${origin}`
  const status = (tokenBinding as { status?: unknown } | null | undefined)?.status
  return tokenBinding && !['present', 'supported', 'notSupported'].includes(status as string)
    ? 'The token binding is not valid'
    : undefined
}

/**
 * Checks one assertion, offline: its type, challenge, origin, relying party, user presence, user verification and
 * signature. `storedCounter` is the last counter seen; 0 after 0 passes, because synced passkeys do not count. `presence`: the
 * device need not have verified its user. `read`: the evidence, if it was read already. Never throws.
 */
export const verifyEvidence = (
  evidence: Evidence,
  expectedChallenge: string,
  {
    storedCounter = 0,
    presence = false,
    read,
  }: { storedCounter?: number; presence?: boolean; read?: ReturnType<typeof readEvidence> } = {},
): EvidenceCheck => {
  try {
    const { client, client_data, data, user_present, user_verified, backup_eligible, backed_up } =
      read ?? readEvidence(evidence)
    const { rp_id_hash, counter } = readData(data)
    const signed = Buffer.concat([data, createHash('sha256').update(client_data).digest()])
    const problem =
      clientProblem(client, expectedChallenge, evidence.origin) ??
      siteProblem(evidence) ??
      (rp_id_hash === sha256(evidence.rp_id) ? undefined : 'It is for another relying party') ??
      (user_present ? undefined : 'Nobody was present') ??
      (user_verified || presence ? undefined : 'The device did not verify its user') ??
      (backed_up && !backup_eligible ? 'A key that cannot be backed up claims to be' : undefined) ??
      (counter <= storedCounter && (counter > 0 || storedCounter > 0)
        ? `The counter ${counter} is not above ${storedCounter}`
        : undefined) ??
      signatureProblem(evidence, signed, fromBase64url(evidence.signature))
    return problem === undefined
      ? { ok: true, user_verified, counter, backup_eligible, backed_up }
      : { ok: false, problem }
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : 'The assertion cannot be read' }
  }
}
