import { attempted } from '../core/attempted.ts'
import { sha256 } from '../core/ids.ts'
import { amrOf, approvalProblem, type ReceiptClaims } from './claims.ts'
import { challengeOf, readContext, type ApprovalContext } from './context.ts'
import { readEvidence, verifyEvidence } from './evidence.ts'
import { fromBase64url } from '../core/exact-json.ts'
import { aloneProblem } from './lines.ts'
import { sameJson } from './same-json.ts'
import type { Note } from './signature.ts'
import { readSubject, type Subject } from './subject.ts'
import { skew, timeText } from './time-text.ts'

const statuses = { approve: 'approved', deny: 'denied' } as const

/** The subject of a request, if it is one. */
export const checkSubject = (
  { subject }: Pick<ReceiptClaims, 'subject'>,
  note: Note,
): Subject | undefined => {
  const { type, digest } = subject
  try {
    const read = readSubject(subject)
    note('subject', true, `${type}, SHA-256 of its data ${digest}`)
    return read
  } catch (error) {
    note('subject', false, (error as Error).message)
    return undefined
  }
}

/** Who signed: a software key is a program, and its receipt must not read as if a person had answered. */
const signerOf = ({ dev }: ReceiptClaims): 'software key' | 'human' =>
  dev === true ? 'software key' : 'human'

const checkSameAsContext = (claims: ReceiptClaims, context: ApprovalContext, note: Note): void => {
  const { type, digest } = claims.subject
  const pairs: [string, unknown, unknown][] = [
    ['sub', claims.sub, context.approver.mobile],
    ['approver', claims.approver, context.approver],
    ['aud', claims.aud, context.requester],
    ['jti', claims.jti, context.request_id],
    ['action', claims.action, context.action],
    ['reason', claims.reason, context.reason],
    ['organization', claims.organization, context.organization],
    ['key', claims.key, context.key],
    ['lines', claims.lines, context.lines],
    ['rules', claims.rules, context.rules],
    ['subject', { type, digest }, context.subject],
    ['note', claims.note, context.note],
  ]
  const signer = signerOf(claims)
  const other = pairs.filter(([, claim, signed]) => !sameJson(claim, signed)).map(([name]) => name)
  note(
    'claims',
    other.length === 0,
    other.length === 0
      ? `the claims of the service are what the ${signer} signed`
      : `not what the ${signer} signed: ${other.join(', ')}`,
  )
  const words = context.note === undefined ? '' : ` with the note ${JSON.stringify(context.note)}`
  note(
    'decision',
    claims.status === statuses[context.decision],
    `the ${signer} signed "${context.decision}"${words}, the receipt claims ${claims.status}`,
  )
  note('action hash', claims.action_sha256 === sha256(claims.action), `SHA-256 ${claims.action_sha256}`)
}

const checkTime = ({ iat }: ReceiptClaims, context: ApprovalContext, note: Note): void => {
  const requested = Date.parse(context.requested_at) / 1000
  const expires = Date.parse(context.request_expires_at) / 1000
  const from = Math.floor(requested)
  const isWithin = iat >= from - skew && iat <= Math.ceil(expires) + skew
  const decided =
    isWithin && iat < from
      ? `by a clock that is ${from - iat} s behind the clock of the request`
      : `at ${timeText(iat)}`
  note(
    'time',
    isWithin,
    `decided ${decided}, requested at ${timeText(requested)}, valid until ${timeText(expires)}`,
  )
}

const checkFactors = (claims: ReceiptClaims, context: ApprovalContext, note: Note): void => {
  const { factors, number_matched, status } = claims
  const results = factors.map(({ factor, result }) => `${factor} ${result}`).join(', ') || 'none'
  const isProgram = claims.dev === true && factors.some(({ factor }) => factor === 'biometric')
  const caveat = isProgram ? '; biometric means only that the software key signed' : ''
  note('factors', new Set(factors.map(({ factor }) => factor)).size === factors.length, `${results}${caveat}`)
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

const meansText = (amr: readonly string[]): string => {
  const [key, ...methods] = amr.map((method) =>
    means.has(method) ? `${means.get(method)} (${method})` : method,
  )
  if (amr[0] === 'swk') return `${key}; it claims ${methods.join(', ')}, which proves nothing`
  return [key, ...methods].join(', ')
}

const presentOnly =
  'somebody touched the device, which did not verify its user; enough for a denial where the organization allows it'

const verifiedText = 'by fingerprint, face or PIN; the device does not report which'

const programOnly = 'a program answered for the approver; no fingerprint, face or PIN was checked'

/** Checks that an approval needs nobody else. Any denial ends its request. */
export const checkAlone = (claims: ReceiptClaims, note: Note): void => {
  if (claims.status !== 'approved') return
  const problem = aloneProblem(claims)
  note('alone', problem === undefined, problem ?? 'nobody else had to agree')
}

/** What a person signed, with the subject that its digest is of. */
export type Signing = { context: ApprovalContext; subject: Subject | undefined }

/** Checks the human's part: the context, that all claims agree with it, and the signature over it. */
export const checkHuman = (claims: ReceiptClaims, note: Note): Signing | undefined => {
  const read = attempted(() => {
    const bytes = fromBase64url(claims.context)
    return { bytes, context: readContext(bytes) }
  })
  if (!note('context', read !== undefined, 'an approval context in canonical form') || !read) return undefined
  const { bytes, context } = read
  checkSameAsContext(claims, context, note)
  const subject = checkSubject(claims, note)
  checkTime(claims, context, note)
  checkFactors(claims, context, note)

  const evidence = readEvidence(claims.evidence)
  const { client, user_present, user_verified } = evidence
  const challenge = challengeOf(bytes)
  note('challenge', client.challenge === challenge, `${challenge}, recomputed from the context`)
  // An organization can allow denials for which the device does not verify its user.
  const presence = context.decision === 'deny' && !user_verified
  if (claims.dev === true) note('software key', user_present && (user_verified || presence), programOnly)
  else if (presence) note('user present', user_present, presentOnly)
  else note('user verified', user_present && user_verified, verifiedText)
  const human = verifyEvidence(claims.evidence, challenge, { presence, read: evidence })
  note(
    claims.dev === true ? 'key signature' : 'human signature',
    human.ok,
    human.ok
      ? `key ${claims.evidence.credential_id} signed at ${claims.evidence.origin}`
      : human.problem.slice(0, 200),
  )
  const amr = amrOf(evidence, claims.dev === true)
  const isSame = claims.amr.join(' ') === amr.join(' ')
  const found = meansText(amr)
  note(
    'means',
    isSame,
    isSame ? found : `the receipt claims "${claims.amr.join(' ')}", the signature shows ${found}`,
  )
  return { context, subject }
}
