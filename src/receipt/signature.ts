import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { attempted } from '../core/attempted.ts'
import { sha256Base64url } from '../core/ids.ts'
import * as z from 'zod/mini'
import { fromBase64url, fromUtf8, parseExact } from '../core/exact-json.ts'
import { readOnce } from './known-keys.ts'

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

type Algorithm = { kty: string; crv: string; hash: 'sha256' | null }

/** The header cannot choose freely: each algorithm requires one kind of key, and no other algorithm is accepted. */
const algorithms: Record<string, Algorithm> = {
  EdDSA: { kty: 'OKP', crv: 'Ed25519', hash: null },
  ES256: { kty: 'EC', crv: 'P-256', hash: 'sha256' },
}

/** The public half only, in the order of its thumbprint: a private or a symmetric key in the file is never used. */
const publicHalf = (key: unknown, wanted: Algorithm) => {
  if (key === null || typeof key !== 'object') return undefined
  const { kty, crv, x, y, use } = key as Record<string, unknown>
  if (kty !== wanted.kty || crv !== wanted.crv || typeof x !== 'string') return undefined
  if (use !== undefined && use !== 'sig') return undefined
  if (kty === 'OKP') return { crv, kty, x }
  return typeof y === 'string' ? { crv, kty, x, y } : undefined
}

/** Finds a key by its RFC 7638 thumbprint, not by the `kid` in the file. */
const findKey = (jwks: unknown, kid: string, wanted: Algorithm): KeyObject | undefined => {
  const keys = (jwks as { keys?: unknown } | null | undefined)?.keys
  for (const key of Array.isArray(keys) ? keys : []) {
    const half = publicHalf(key, wanted)
    if (half && sha256Base64url(JSON.stringify(half)) === kid)
      return readOnce(kid, () => createPublicKey({ key: half, format: 'jwk' }))
  }
  return undefined
}

/** Checks the signature of the service. Returns the payload, parsed from the signed bytes, or undefined if a check failed. */
export const checkSignature = (
  jws: string,
  jwks: unknown,
  expectedType: string,
  note: Note,
): { kid: string; payload: unknown } | undefined => {
  const texts = jws.split('.')
  const isThree = texts.length === 3 && !texts.includes('')
  const parts = isThree ? attempted(() => texts.map(fromBase64url)) : undefined
  if (!note('encoding', parts !== undefined, 'a compact JWS: three parts in canonical base64url') || !parts)
    return undefined

  const header = attempted(() => headerShape.safeParse(parseExact(fromUtf8(parts[0]!))).data)
  if (!note('header', header !== undefined, 'alg, typ and kid, and nothing else') || !header) return undefined
  const { alg, typ, kid } = header
  const algorithm = Object.hasOwn(algorithms, alg) ? algorithms[alg] : undefined
  if (!note('algorithm', algorithm !== undefined, `${alg}; only EdDSA and ES256 are accepted`) || !algorithm)
    return undefined
  if (!note('type', typ === expectedType, `typ ${typ}, expected ${expectedType}`)) return undefined

  const key = findKey(jwks, kid, algorithm)
  const found = key ? `the key with thumbprint ${kid} is in the key set` : `no key in the key set is ${kid}`
  if (!note('key', key !== undefined, found) || !key) return undefined

  const signedBytes = Buffer.from(`${texts[0]}.${texts[1]}`)
  // The signature of a JWS is the two numbers themselves, without DER around them.
  const isSigned = verify(algorithm.hash, signedBytes, { key, dsaEncoding: 'ieee-p1363' }, parts[2]!)
  const words = isSigned ? 'the service signed exactly these bytes' : 'the service did not sign these bytes'
  if (!note('signature', isSigned, words)) return undefined
  return { kid, payload: parseExact(fromUtf8(parts[1]!)) }
}

/** The address that the key set claims for its service. */
export const issuerIn = (jwks: unknown): string | undefined => {
  const { issuer } = (jwks ?? {}) as { issuer?: unknown }
  return typeof issuer === 'string' ? issuer : undefined
}
