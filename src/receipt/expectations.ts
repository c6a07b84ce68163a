import type { ReceiptClaims } from './claims.ts'
import type { Note } from './signature.ts'

/** What the verifier wants it to say; what is left out is not asked, but for `status`. */
export type Expectations = {
  /** The exact text. */
  action?: string
  /** E.164. */
  approver?: string
  requester?: string
  /** `approved` when left out: a genuine denial does not pass for an approval. */
  status?: 'approved' | 'denied'
  requestId?: string
  issuer?: string
  /** Each must have passed. */
  factors?: readonly string[]
  /** Seconds since the decision. */
  maxAgeS?: number
  /** COSE public key, base64url, as it was kept when the approver enrolled. */
  pinnedKey?: string
  /** Take receipts made with a software key on a development service. */
  allowDev?: boolean
}

/** Seconds by which this machine's clock may be behind. */
const skew = 60

const exact = [
  ['action', 'action'],
  ['approver', 'sub'],
  ['requester', 'aud'],
  ['requestId', 'jti'],
  ['issuer', 'iss'],
] as const

/** Compares a genuine receipt with what was wanted, at `now`. */
export const checkExpectations = (
  claims: ReceiptClaims,
  wanted: Expectations,
  now: Date,
  note: Note,
): void => {
  const status = wanted.status ?? 'approved'
  note('expected status', claims.status === status, `${claims.status}, wanted ${status}`)
  for (const [name, claim] of exact)
    if (wanted[name] !== undefined)
      note(`expected ${name}`, claims[claim] === wanted[name], `"${claims[claim]}", wanted "${wanted[name]}"`)
  for (const factor of wanted.factors ?? []) {
    const result = claims.factors.find((one) => one.factor === factor)?.result ?? 'not asked'
    note(`expected factor ${factor}`, result === 'PASS', result)
  }
  if (wanted.pinnedKey !== undefined)
    note(
      'pinned key',
      claims.evidence.public_key === wanted.pinnedKey,
      "the key that was kept as the approver's",
    )
  note(
    'development',
    claims.dev !== true || wanted.allowDev === true,
    claims.dev ? 'a software key, on a service started with --dev' : 'no',
  )

  const age = now.getTime() / 1000 - claims.iat
  note(
    'past',
    age >= -skew,
    age >= -skew ? 'decided before now' : 'decided after now, by the clock of this machine',
  )
  if (wanted.maxAgeS !== undefined)
    note('age', age <= wanted.maxAgeS, `${Math.round(age)} s, wanted at most ${wanted.maxAgeS} s`)
}
