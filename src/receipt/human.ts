import canonicalize from 'canonicalize'
import { sha256 } from '../core/ids.ts'
import { amrOf, approvalProblem, areCurrent, type AnyClaims, type ReceiptClaims } from './claims.ts'
import { challengeOf, isCurrent, readContext, type AnyContext } from './context.ts'
import { readEvidence, verifyEvidence } from './evidence.ts'
import { fromBase64url } from './exact.ts'
import type { Note } from './signature.ts'
import { readSubject } from './subject.ts'

/** Seconds by which the clocks of a node and of its store can differ. */
const skew = 5

const statuses = { approve: 'approved', deny: 'denied' } as const

const contextOf = (encoded: string) => {
  try {
    const bytes = fromBase64url(encoded)
    return { bytes, context: readContext(bytes) }
  } catch {
    return undefined
  }
}

/** The fields that only format 2 has, as pairs of claimed and signed values. */
const furtherPairs = (claims: AnyClaims, context: AnyContext): [string, unknown, unknown][] => {
  if (!areCurrent(claims) || !isCurrent(context)) return [['format', areCurrent(claims), isCurrent(context)]]
  const { type, digest } = claims.subject
  return [
    ['organization', canonicalize(claims.organization), canonicalize(context.organization)],
    ['key', canonicalize(claims.key), canonicalize(context.key)],
    ['subject', canonicalize({ type, digest }), canonicalize(context.subject)],
    ['note', claims.note, context.note],
  ]
}

const noteIn = (context: AnyContext): string =>
  isCurrent(context) && context.note !== undefined ? ` with the note ${JSON.stringify(context.note)}` : ''

const subjectProblem = (subject: ReceiptClaims['subject']): string | undefined => {
  try {
    readSubject(subject)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const checkSubject = (claims: AnyClaims, note: Note): void => {
  if (!areCurrent(claims)) return
  const { type, digest } = claims.subject
  const problem = subjectProblem(claims.subject)
  note('subject', problem === undefined, problem ?? `${type}, SHA-256 of its data ${digest}`)
}

const checkSameAsContext = (claims: AnyClaims, context: AnyContext, note: Note): void => {
  const pairs: [string, unknown, unknown][] = [
    ['sub', claims.sub, context.approver],
    ['aud', claims.aud, context.requester],
    ['jti', claims.jti, context.request_id],
    ['action', claims.action, context.action],
    ['reason', claims.reason, context.reason],
    ...furtherPairs(claims, context),
  ]
  const other = pairs.filter(([, claim, signed]) => claim !== signed).map(([name]) => name)
  note(
    'claims',
    other.length === 0,
    other.length === 0
      ? 'the claims of the service are what the human signed'
      : `not what the human signed: ${other.join(', ')}`,
  )
  note(
    'decision',
    claims.status === statuses[context.decision],
    `the human signed "${context.decision}"${noteIn(context)}, the receipt claims ${claims.status}`,
  )
  note('action hash', claims.action_sha256 === sha256(claims.action), `SHA-256 ${claims.action_sha256}`)
}

/** Seconds as an ISO time, or as a number if they are beyond the calendar. */
const formatSeconds = (seconds: number): string => {
  const at = new Date(seconds * 1000)
  return Number.isNaN(at.getTime()) ? String(seconds) : at.toISOString()
}

const checkTime = ({ iat }: AnyClaims, context: AnyContext, note: Note): void => {
  const from = Math.floor(Date.parse(context.requested_at) / 1000) - skew
  const to = Math.ceil(Date.parse(context.request_expires_at) / 1000) + skew
  note(
    'time',
    iat >= from && iat <= to,
    `decided at ${formatSeconds(iat)}, requested at ${context.requested_at}, valid until ${context.request_expires_at}`,
  )
}

const checkFactors = (claims: AnyClaims, context: AnyContext, note: Note): void => {
  const { factors, number_matched, status } = claims
  const results = factors.map(({ factor, result }) => `${factor} ${result}`).join(', ') || 'none'
  note('factors', new Set(factors.map(({ factor }) => factor)).size === factors.length, results)
  const problem = status === 'approved' ? approvalProblem(context.factors, claims) : undefined
  const number = number_matched === null ? 'no number was required' : `number matched: ${number_matched}`
  note('conditions', problem === undefined, problem ?? `everything that an approval needs; ${number}`)
}

/** Authentication methods of RFC 8176; `pop` for a passkey that is not bound to one device. */
const means: ReadonlyMap<string, string> = new Map([
  ['swk', 'a software key'],
  ['hwk', 'a key bound to the device'],
  ['pop', 'a key that may be synced between devices'],
  ['user', 'user presence'],
  ['mfa', 'several factors'],
])

const meansText = (amr: readonly string[]): string =>
  amr.map((method) => (means.has(method) ? `${means.get(method)} (${method})` : method)).join(', ')

const presentOnly =
  'somebody touched the device, which did not verify its user; enough for a denial where the organization allows it'

/** Checks the human's part: the context, that all claims agree with it, and the signature over it. */
export const checkHuman = async (claims: AnyClaims, note: Note): Promise<AnyContext | undefined> => {
  const read = contextOf(claims.context)
  if (!note('context', read !== undefined, 'an approval context in canonical form') || !read) return undefined
  const { bytes, context } = read
  checkSameAsContext(claims, context, note)
  checkSubject(claims, note)
  checkTime(claims, context, note)
  checkFactors(claims, context, note)

  const { client, user_present, user_verified } = readEvidence(claims.evidence)
  const challenge = challengeOf(bytes)
  note('challenge', client.challenge === challenge, `${challenge}, recomputed from the context`)
  // An organization can allow denials for which the device does not verify its user.
  const presence = context.decision === 'deny' && !user_verified
  if (presence) note('user present', user_present, presentOnly)
  else
    note(
      'user verified',
      user_present && user_verified,
      'by fingerprint, face or PIN; the device does not report which',
    )
  const human = await verifyEvidence(claims.evidence, challenge, { presence })
  note(
    'human signature',
    human.ok,
    human.ok
      ? `key ${claims.evidence.credential_id} signed at ${claims.evidence.origin}`
      : human.problem.slice(0, 200),
  )
  const amr = amrOf(claims.evidence, claims.dev === true)
  const isSame = claims.amr.join(' ') === amr.join(' ')
  const found = meansText(amr)
  note(
    'means',
    isSame,
    isSame ? found : `the receipt claims "${claims.amr.join(' ')}", the signature shows ${found}`,
  )
  return context
}
