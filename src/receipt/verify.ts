import { type Answers, checkAnswers } from './answers.ts'
import type { ReceiptClaims } from './claims.ts'
import { checkExpectations, type Expectations } from './expectations.ts'
import { factsOf, headlineOf, requestFacts } from './facts.ts'
import type { UseClaims } from './grant-use.ts'
import type { CompletionClaims } from './set.ts'
import { type Check, notesFor } from './signature.ts'

export type ReceiptVerification = {
  valid: boolean
  /** Of everybody who answered: what the service signed, even if it is not valid. */
  receipts: ReceiptClaims[]
  /** Of a set: what the service signed. */
  completion?: CompletionClaims
  /** If somebody else was asked than the people whom the rules name: why, and whom nobody asked. */
  breakGlass?: { reason: string; skipped: string[] }
  /** What the approver read; present if the receipt is valid. */
  headline?: string
  /** Under a grant: the use, which no person saw. */
  use?: UseClaims
  checks: Check[]
  /** Who requested it and the origin of the device, if the human signed it. */
  facts: string[]
  /** What only the service claims, because no signature of the human covers it. */
  on_service_word: string[]
}

const serviceWord = ({ receipts, completion, use }: Answers, expected: Expectations): string[] => [
  ...receipts
    .filter(({ sub }) => expected.pinnedKey === undefined && expected.passkeys?.[sub] === undefined)
    .map(
      ({ evidence, sub }) =>
        `that key ${evidence.credential_id} belongs to ${sub}: pin the key to check it yourself`,
    ),
  'when it was decided',
  ...(use ? ['how often the grant had been used', 'that it had not been ended'] : []),
  'how and by which key the device was enrolled, and whether the requesting key could influence that',
  ...(completion ? ['who was left out, and why'] : []),
  ...(receipts.some(({ factors }) => factors.length > 0) ? ['the results of the factors'] : []),
  ...(receipts.every(({ number_matched }) => number_matched === null)
    ? []
    : ['that a number was required, and what was typed']),
  'where the key is stored: nothing attests the device',
]

/**
 * Checks a receipt, or the set of receipts of several people (the whole JSON, its text, or a bare JWS), with nothing but the
 * key set. It is valid if every check passes. Never throws, whatever the input.
 */
export const verifyReceipt = async (
  attestation: unknown,
  jwks: unknown,
  expected: Expectations,
  now: Date,
): Promise<ReceiptVerification> => {
  const checks: Check[] = []
  const notes = notesFor((check) => void checks.push(check))
  const found: Answers = { receipts: [] }
  let finished = false
  let headline: string | undefined
  let requested: string[] = []
  try {
    if (checkAnswers(attestation, jwks, notes, found)) {
      checkExpectations(found, expected, now, notes)
      finished = true
      if (checks.every(({ ok }) => ok)) {
        headline = headlineOf(found)
        requested = requestFacts(found)
      }
    }
  } catch {
    notes()('readable', false, 'it is not a readable receipt')
  }
  const { subject: _, ...signed } = found
  return {
    valid: finished && checks.every(({ ok }) => ok),
    ...signed,
    ...(headline === undefined ? {} : { headline }),
    checks,
    facts: finished ? [...factsOf(found), ...requested] : [],
    on_service_word: found.receipts.length > 0 ? serviceWord(found, expected) : [],
  }
}
