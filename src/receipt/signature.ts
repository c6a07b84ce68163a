import { calculateJwkThumbprint, compactVerify, importJWK, type JWK } from 'jose'
import * as z from 'zod/mini'
import { fromBase64url, fromUtf8, parseExact } from '../core/exact-json.ts'

/** One thing that was checked, for a person. `detail` may quote the receipt, and `part` says which of a set. */
export type Check = { part?: string; name: string; ok: boolean; detail: string }
/** Records a check and returns whether it passed. */
export type Note = (name: string, ok: boolean, detail: string) => boolean
/** Records checks of one part of a set, or of the whole. */
export type Notes = (part?: string) => Note

export const notesFor =
  (checked: (check: Check) => void): Notes =>
  (part) =>
  (name, ok, detail) => {
    checked({ ...(part !== undefined && { part }), name, ok, detail })
    return ok
  }

const headerShape = z.strictObject({ alg: z.string(), typ: z.string(), kid: z.string() })

/** The header cannot choose freely: each algorithm requires one kind of key, and no other algorithm is accepted. */
const keyTypes: Record<string, { kty: string; crv: string }> = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  ES256: { kty: 'EC', crv: 'P-256' },
}

/** The public half only: a private or a symmetric key in the file is never used. */
const publicHalf = (key: unknown, type: { kty: string; crv: string }): JWK | undefined => {
  if (key === null || typeof key !== 'object') return undefined
  const { kty, crv, x, y, use } = key as Record<string, unknown>
  if (kty !== type.kty || crv !== type.crv || typeof x !== 'string') return undefined
  if (use !== undefined && use !== 'sig') return undefined
  if (kty === 'OKP') return { kty, crv: type.crv, x }
  return typeof y === 'string' ? { kty: type.kty, crv: type.crv, x, y } : undefined
}

/** Finds a key by its RFC 7638 thumbprint, not by the `kid` in the file. */
const findKey = async (jwks: unknown, kid: string, type: { kty: string; crv: string }) => {
  const keys = (jwks as { keys?: unknown } | null | undefined)?.keys
  for (const key of Array.isArray(keys) ? keys : []) {
    const half = publicHalf(key, type)
    if (half && (await calculateJwkThumbprint(half)) === kid) return half
  }
  return undefined
}

const readHeader = (part: string) => {
  try {
    return headerShape.safeParse(parseExact(fromUtf8(fromBase64url(part)))).data
  } catch {
    return undefined
  }
}

const isCanonicalJws = (parts: string[]): boolean => {
  try {
    return parts.length === 3 && parts.every((part) => part !== '' && fromBase64url(part))
  } catch {
    return false
  }
}

/** Checks the signature of the service. Returns the payload, parsed from the signed bytes, or undefined if a check failed. */
export const checkSignature = async (
  jws: string,
  jwks: unknown,
  expectedType: string,
  note: Note,
): Promise<{ kid: string; payload: unknown } | undefined> => {
  const parts = jws.split('.')
  if (!note('encoding', isCanonicalJws(parts), 'a compact JWS: three parts in canonical base64url'))
    return undefined

  const header = readHeader(parts[0]!)
  if (!note('header', header !== undefined, 'alg, typ and kid, and nothing else') || !header) return undefined
  const { alg, typ, kid } = header
  const type = Object.hasOwn(keyTypes, alg) ? keyTypes[alg] : undefined
  if (!note('algorithm', type !== undefined, `${alg}; only EdDSA and ES256 are accepted`) || !type)
    return undefined
  if (!note('type', typ === expectedType, `typ ${typ}, expected ${expectedType}`)) return undefined

  const key = await findKey(jwks, kid, type)
  const known = key ? `the key with thumbprint ${kid} is in the key set` : `no key in the key set is ${kid}`
  if (!note('key', key !== undefined, known) || !key) return undefined

  const verified = await importJWK(key, alg)
    .then((publicKey) => compactVerify(jws, publicKey, { algorithms: [alg] }))
    .catch(() => undefined)
  const signed = verified ? 'the service signed exactly these bytes' : 'the service did not sign these bytes'
  if (!note('signature', verified !== undefined, signed) || !verified) return undefined
  return { kid, payload: parseExact(fromUtf8(verified.payload)) }
}

/** The address that the key set claims for its service. */
export const issuerIn = (jwks: unknown): string | undefined => {
  const { issuer } = (jwks ?? {}) as { issuer?: unknown }
  return typeof issuer === 'string' ? issuer : undefined
}
