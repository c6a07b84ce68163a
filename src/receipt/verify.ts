import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import { claimsShape, type ReceiptClaims } from './claims.ts'
import { shapeProblem } from './context.ts'
import { parseExact } from '../core/exact-json.ts'
import { checkExpectations, type Expectations } from './expectations.ts'
import { factsOf, headlineOf } from './facts.ts'
import { checkAlone, checkHuman } from './human.ts'
import { checkSignature, type Check, type Note } from './signature.ts'

export type ReceiptVerification = {
  valid: boolean
  /** Present if the signature of the service is valid, even if the receipt is not. */
  claims?: ReceiptClaims
  /** What the approver read; present if the receipt is valid. */
  headline?: string
  checks: Check[]
  /** Who requested it and the origin of the device, if the human signed it. */
  facts: string[]
  /** What only the service claims, because no signature of the human covers it. */
  on_service_word: string[]
}

const maxBytes = 256 * 1024

const envelopeShape = z.strictObject({
  format: z.literal('jws'),
  jws: z.string(),
  kid: z.string(),
  claims: z.optional(z.unknown()),
})

/** The JWS and the copies next to it. A bare JWS has none, and the answer of a tool leaves out the claims. */
const readReceipt = (receipt: unknown, note: Note) => {
  const text = (typeof receipt === 'string' ? receipt : (JSON.stringify(receipt) ?? '')).trim()
  const bytes = Buffer.byteLength(text)
  if (!note('size', bytes <= maxBytes, `${bytes} bytes, at most ${maxBytes}`)) return undefined
  if (!text.startsWith('{')) return { jws: text }
  const { data, error } = envelopeShape.safeParse(parseExact(text))
  if (!note('format', data !== undefined, error ? shapeProblem(error) : 'jws')) return undefined
  return data
}

const serviceWord = (claims: ReceiptClaims, expected: Expectations): string[] => [
  ...(expected.pinnedKey === undefined
    ? [`that key ${claims.evidence.credential_id} belongs to ${claims.sub}: pin the key to check it yourself`]
    : []),
  'when it was decided',
  'how and by which key the device was enrolled, and whether the requesting key could influence that',
  ...(claims.factors.length > 0 ? ['the results of the factors'] : []),
  ...(claims.number_matched === null ? [] : ['that a number was required, and what was typed']),
  'where the key is stored: nothing attests the device',
]

const readClaims = async (
  receipt: unknown,
  jwks: unknown,
  note: Note,
): Promise<ReceiptClaims | undefined> => {
  const read = readReceipt(receipt, note)
  if (!read) return undefined
  const signed = await checkSignature(read.jws, jwks, note)
  if (!signed) return undefined
  if ('kid' in read) {
    const same =
      read.kid === signed.kid &&
      (read.claims === undefined || canonicalize(read.claims) === canonicalize(signed.payload))
    note(
      'copy',
      same,
      same
        ? 'the data next to the JWS is what was signed'
        : 'the data next to the JWS is not what was signed',
    )
  }
  const { data: claims, error } = claimsShape.safeParse(signed.payload)
  if (!note('shape', claims !== undefined, error ? shapeProblem(error) : 'all claims, and no others'))
    return undefined
  return claims
}

/**
 * Checks a receipt (the whole JSON, its text, or the bare JWS) with nothing but the key set. It is valid if every check
 * passes. Never throws, whatever the input.
 */
export const verifyReceipt = async (
  receipt: unknown,
  jwks: unknown,
  expected: Expectations,
  now: Date,
): Promise<ReceiptVerification> => {
  const checks: Check[] = []
  const note: Note = (name, ok, detail) => {
    checks.push({ name, ok, detail })
    return ok
  }
  let claims: ReceiptClaims | undefined
  let finished = false
  let headline: string | undefined
  try {
    claims = await readClaims(receipt, jwks, note)
    if (claims && (await checkHuman(claims, note))) {
      checkAlone(claims, note)
      checkExpectations(claims, expected, now, note)
      finished = true
      if (checks.every(({ ok }) => ok)) headline = headlineOf(claims)
    }
  } catch {
    note('readable', false, 'it is not a readable receipt')
  }
  return {
    valid: finished && checks.every(({ ok }) => ok),
    ...(claims ? { claims } : {}),
    ...(headline === undefined ? {} : { headline }),
    checks,
    facts: claims && finished ? factsOf(claims) : [],
    on_service_word: claims ? serviceWord(claims, expected) : [],
  }
}
