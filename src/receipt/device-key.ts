import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { decodeCBOR, encodeCBOR } from '@levischuck/tiny-cbor'
import { fromBase64url, toBase64url } from '../core/exact-json.ts'
import { readOnce } from './known-keys.ts'

/** COSE: ES256 (-7), EdDSA (-8) or RS256 (-257). */
export type DeviceAlgorithm = -7 | -8 | -257

const isOf32 = (value: unknown): boolean => value instanceof Uint8Array && value.length === 32
const isNumber = (value: unknown): boolean => value instanceof Uint8Array && (value[0] ?? 0) !== 0

// COSE: kty (1), alg (3), and only what each type requires, in the order of CTAP: crv (-1), x (-2) and y (-3), or n (-1) and
// e (-2). So two keys that are written differently are two keys, and nobody counts twice.
const keyMembers = {
  [-7]: { 1: 2, 3: -7, [-1]: 1, [-2]: isOf32, [-3]: isOf32 },
  [-8]: { 1: 1, 3: -8, [-1]: 6, [-2]: isOf32 },
  [-257]: { 1: 3, 3: -257, [-1]: isNumber, [-2]: isNumber },
}

/** The bytes in them as a JWK. */
const jwkMembers = {
  [-7]: { jwk: { kty: 'EC', crv: 'P-256' }, bytes: { x: -2, y: -3 } },
  [-8]: { jwk: { kty: 'OKP', crv: 'Ed25519' }, bytes: { x: -2 } },
  [-257]: { jwk: { kty: 'RSA' }, bytes: { n: -1, e: -2 } },
}

/** Reads a COSE key that is written in the one way that we accept. Throws for any other, and for one that is no key. */
const readKey = (algorithm: DeviceAlgorithm, encoded: string): KeyObject => {
  // A copy, because this parser reads the whole buffer.
  const key = decodeCBOR(new Uint8Array(fromBase64url(encoded)))
  if (!(key instanceof Map)) throw new TypeError('The public key is not a COSE key')
  if (toBase64url(encodeCBOR(key)) !== encoded) throw new TypeError('The public key is not in canonical form')
  const members = Object.entries(keyMembers[algorithm])
  const fits = members.every(([name, wanted]) => {
    const value = key.get(Number(name))
    return typeof wanted === 'function' ? wanted(value) : value === wanted
  })
  const names = members.map(([name]) => name).join()
  if (!fits || [...key.keys()].join() !== names)
    throw new TypeError('The public key does not match its algorithm')
  const { jwk, bytes } = jwkMembers[algorithm]
  const texts = Object.entries(bytes).map(([name, at]) => [name, toBase64url(key.get(at) as Uint8Array)])
  return createPublicKey({ key: { ...jwk, ...Object.fromEntries(texts) }, format: 'jwk' })
}

/** Whether an ECDSA signature is canonical DER, the one form that we accept from any verifier. */
const isCanonicalDer = (bytes: Uint8Array): boolean => {
  const afterInteger = (at: number): number => {
    const [tag, length, first, second] = bytes.subarray(at)
    const shortest = tag === 2 && first! < 0x80 && (first !== 0 || second! >= 0x80)
    return shortest ? at + 2 + length! : NaN
  }
  return bytes[0] === 0x30 && bytes[1] === bytes.length - 2 && afterInteger(afterInteger(2)) === bytes.length
}

/** Why a device with this key did not sign these bytes; undefined if it did. Throws for a key that is none. */
export const signatureProblem = (
  { algorithm, public_key }: { algorithm: DeviceAlgorithm; public_key: string },
  signed: Uint8Array,
  signature: Uint8Array,
): string | undefined => {
  const key = readOnce(`${algorithm} ${public_key}`, () => readKey(algorithm, public_key))
  if (algorithm === -7 && !isCanonicalDer(signature)) return 'The signature is not canonical DER'
  return verify(algorithm === -8 ? null : 'sha256', signed, key, signature)
    ? undefined
    : 'The signature does not match this key and data'
}
