import canonicalize from 'canonicalize'
import * as z from 'zod/mini'
import { areCurrent, claimsShape, firstClaimsShape, firstReceiptType, type AnyClaims } from './claims.ts'
import { shapeProblem } from './context.ts'
import { parseExact } from './exact.ts'
import { checkExpectations, type Expectations } from './expectations.ts'
import { factsOf, headlineOf } from './facts.ts'
import { checkHuman } from './human.ts'
import { checkSignature, type Check, type Note } from './signature.ts'

export type ReceiptVerification = {
  valid: boolean
  /** There once the service's signature holds, valid or not. */
  claims?: AnyClaims
  /** What the approver read; there when it is valid. */
  headline?: string
  checks: Check[]
  /** Who asked and how the device was enrolled, in sentences; of format 1, what it does not prove. */
  facts: string[]
  /** What no signature of the human covers, so that only the service vouches for it. */
  on_service_word: string[]
}

const maxBytes = 256 * 1024

const envelopeShape = z.strictObject({
  format: z.literal('jws'),
  jws: z.string(),
  kid: z.string(),
  claims: z.optional(z.unknown()),
})

/** The JWS and the copies beside it. A bare JWS has none, and the answer of a tool leaves out the claims. */
const readReceipt = (receipt: unknown, note: Note) => {
  const text = (typeof receipt === 'string' ? receipt : (JSON.stringify(receipt) ?? '')).trim()
  const bytes = Buffer.byteLength(text)
  if (!note('size', bytes <= maxBytes, `${bytes} bytes, at most ${maxBytes}`)) return undefined
  if (!text.startsWith('{')) return { jws: text }
  const { data, error } = envelopeShape.safeParse(parseExact(text))
  if (!note('format', data !== undefined, error ? shapeProblem(error) : 'jws')) return undefined
  return data
}

const serviceWord = (claims: AnyClaims, wanted: Expectations): string[] => [
  ...(wanted.pinnedKey === undefined
    ? [`that key ${claims.evidence.credential_id} belongs to ${claims.sub}: pin the key to check it yourself`]
    : []),
  'when it was decided',
  ...(areCurrent(claims)
    ? ['how and by which key the device was enrolled, and whether the requesting key could influence that']
    : []),
  ...(claims.factors.length > 0 ? ['the results of the factors'] : []),
  ...(claims.number_matched === null ? [] : ['that the number was asked, and what was typed']),
  'where the key is kept: nothing attests the device',
]

const readClaims = async (receipt: unknown, jwks: unknown, note: Note): Promise<AnyClaims | undefined> => {
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
        ? 'what stands beside the JWS is what was signed'
        : 'what stands beside the JWS is not what was signed',
    )
  }
  const shape = signed.typ === firstReceiptType ? firstClaimsShape : claimsShape
  const { data: claims, error } = shape.safeParse(signed.payload)
  if (!note('shape', claims !== undefined, error ? shapeProblem(error) : 'all claims, and no other'))
    return undefined
  return claims
}

/**
 * Checks a receipt with nothing but the key set: the whole JSON, its text, or the bare JWS. It is valid when every
 * check holds. Never throws, whatever it is given.
 */
export const verifyReceipt = async (
  receipt: unknown,
  jwks: unknown,
  wanted: Expectations,
  now: Date,
): Promise<ReceiptVerification> => {
  const checks: Check[] = []
  const note: Note = (name, ok, detail) => {
    checks.push({ name, ok, detail })
    return ok
  }
  let claims: AnyClaims | undefined
  let finished = false
  let headline: string | undefined
  try {
    claims = await readClaims(receipt, jwks, note)
    if (claims && (await checkHuman(claims, note))) {
      checkExpectations(claims, wanted, now, note)
      finished = true
      if (checks.every(({ ok }) => ok)) headline = headlineOf(claims)
    }
  } catch {
    note('readable', false, 'it cannot be read as a receipt')
  }
  return {
    valid: finished && checks.every(({ ok }) => ok),
    ...(claims ? { claims } : {}),
    ...(headline === undefined ? {} : { headline }),
    checks,
    facts: claims ? factsOf(claims) : [],
    on_service_word: claims ? serviceWord(claims, wanted) : [],
  }
}
