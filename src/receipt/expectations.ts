import { areCurrent, type AnyClaims, type ReceiptClaims } from './claims.ts'
import { firstFormatLacks, headlineOf, unauthenticatedProgram } from './facts.ts'
import type { Note } from './signature.ts'

/**
 * What the verifier wants it to say; what is left out is not asked, except for `status`, `organization` and `issuer`: a
 * receipt of another organization or service never passes because nobody named the right one.
 */
export type Expectations = {
  /** The exact text, which the approver must have been shown as the headline. */
  action?: string | undefined
  /** E.164. */
  approver?: string | undefined
  requester?: string | undefined
  /** `approved` when left out: a genuine denial does not pass for an approval. */
  status?: 'approved' | 'denied' | undefined
  requestId?: string
  /** Required, unless `allowDev`. */
  issuer?: string | undefined
  /** Id or slug. Required, unless `allowDev`. */
  organization?: string | undefined
  /** Of the subject, lower-case hex. */
  digest?: string | undefined
  /** Each must have passed. */
  factors?: readonly string[] | undefined
  /** Seconds since the decision. */
  maxAgeS?: number | undefined
  /** COSE public key, base64url, as it was kept when the approver enrolled. */
  pinnedKey?: string | undefined
  /** Take receipts made with a software key on a development service. */
  allowDev?: boolean
  /** Take requests of a key that can influence who approves. */
  allowUnseparated?: boolean
  /** `strict`: the key that created the requesting key must not have enrolled the device either. */
  separation?: 'strict' | undefined
  /** Take requests of a local program that showed no credential. */
  allowUnauthenticated?: boolean
  /** Take receipts of format 1. */
  allowFormat1?: boolean
}

/** Seconds by which this machine's clock may be behind. */
const skew = 60

const exact = [
  ['approver', 'sub', ''],
  ['requester', 'aud', '; claimed by whoever asked, not verified'],
  ['requestId', 'jti', ''],
] as const

const checkIssuer = (claims: AnyClaims, { issuer, allowDev }: Expectations, note: Note): void => {
  if (issuer !== undefined)
    note('expected issuer', claims.iss === issuer, `"${claims.iss}", wanted "${issuer}"`)
  else if (!allowDev) note('expected issuer', false, `"${claims.iss}"; the expected issuer was not named`)
}

/** The headline that the approver read must be this text: beside another subject it is only the requester's word. */
const checkAction = (claims: AnyClaims, { action }: Expectations, note: Note): void => {
  if (action === undefined) return
  const shown = headlineOf(claims)
  const words =
    claims.action === action && shown !== action ? '; the action is only what the requester said' : ''
  note('expected action', shown === action, `"${shown}", wanted "${action}"${words}`)
}

const checkOrganization = (claims: ReceiptClaims, wanted: Expectations, note: Note): void => {
  const { id, slug } = claims.organization
  const said = `${slug} (id ${id})`
  const { organization, allowDev } = wanted
  if (organization !== undefined)
    note('expected organization', [id, slug].includes(organization), `${said}, wanted ${organization}`)
  else if (!allowDev) note('expected organization', false, `${said}; the expected organization was not named`)
}

/** Whether whoever asked could have been the one who answered. */
const checkSeparation = (claims: ReceiptClaims, wanted: Expectations, note: Note): void => {
  const { device, influences } = claims
  const { relation } = device.enrolled_by
  // No flag allows it: such a receipt proves nothing but that the key was there.
  if (relation === 'self')
    note('enrollment', false, 'the requesting key itself enrolled the device of the approver')
  if (influences)
    note(
      'separation',
      wanted.allowUnseparated === true || wanted.allowDev === true,
      'the requesting key can influence who approves: it can enroll devices, or change keys, people or rules',
    )
  if (wanted.separation === 'strict') {
    // Nobody knows who made the link, and nothing but the link was asked for.
    const unknown = relation === 'unknown' && device.proof === 'link'
    note(
      'strict separation',
      relation !== 'creator' && !unknown,
      unknown ? 'which key enrolled the device was not recorded' : `the device was enrolled by: ${relation}`,
    )
  }
}

const checkKey = ({ key }: ReceiptClaims, wanted: Expectations, note: Note): void => {
  if (key.id === '0' && key.name === unauthenticatedProgram)
    note(
      'authenticated requester',
      wanted.allowUnauthenticated === true,
      'a program that showed no credential requested it',
    )
}

const checkFormat = (claims: AnyClaims, wanted: Expectations, note: Note): void => {
  if (!areCurrent(claims)) {
    note('format 2', wanted.allowFormat1 === true, `format 1 does not prove ${firstFormatLacks.join('; ')}`)
    if (wanted.digest !== undefined) note('expected subject', false, 'format 1 has no subject')
    return
  }
  checkOrganization(claims, wanted, note)
  checkSeparation(claims, wanted, note)
  checkKey(claims, wanted, note)
  if (wanted.digest !== undefined) {
    const { digest } = claims.subject
    note('expected subject', digest === wanted.digest, `SHA-256 ${digest}, wanted ${wanted.digest}`)
  }
}

const checkTime = (claims: AnyClaims, { maxAgeS }: Expectations, now: Date, note: Note): void => {
  const age = now.getTime() / 1000 - claims.iat
  note(
    'past',
    age >= -skew,
    age >= -skew ? 'decided before now' : 'decided after now, by the clock of this machine',
  )
  if (maxAgeS !== undefined) note('age', age <= maxAgeS, `${Math.round(age)} s, wanted at most ${maxAgeS} s`)
}

/** Compares a genuine receipt with what was wanted, at `now`. */
export const checkExpectations = (claims: AnyClaims, wanted: Expectations, now: Date, note: Note): void => {
  const status = wanted.status ?? 'approved'
  note('expected status', claims.status === status, `${claims.status}, wanted ${status}`)
  checkAction(claims, wanted, note)
  for (const [name, claim, caveat] of exact) {
    const found = `"${claims[claim]}", wanted "${wanted[name]}"${caveat}`
    if (wanted[name] !== undefined) note(`expected ${name}`, claims[claim] === wanted[name], found)
  }
  checkIssuer(claims, wanted, note)
  checkFormat(claims, wanted, note)
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
  checkTime(claims, wanted, now, note)
}
