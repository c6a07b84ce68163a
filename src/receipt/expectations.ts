import { isRecord } from '../core/is-record.ts'
import { type Answers, askedOf } from './answers.ts'
import type { ReceiptClaims } from './claims.ts'
import { checkPeople, type ExpectedPeople } from './expected-people.ts'
import { checkRule, type ExpectedRule } from './expected-rule.ts'
import { breakGlassText, headlineOf, originOf, unauthenticatedProgram, useText } from './facts.ts'
import type { Note, Notes } from './signature.ts'

/**
 * What the verifier expects. Fields that are left out are not checked, except `status`, `organization` and `issuer`: a
 * receipt of another organization or service must not pass just because these are missing.
 */
export type Expectations = ExpectedPeople & {
  /** The exact text that the approver must have seen as the headline. */
  action?: string | undefined
  requester?: string | undefined
  /** Default `approved`, so that a genuine denial does not pass as an approval. */
  status?: 'approved' | 'denied' | undefined
  requestId?: string
  /** Required, unless `allowDev`. */
  issuer?: string | undefined
  /** Id or slug. Required, unless `allowDev`. */
  organization?: string | undefined
  /** Digest of the subject, lower-case hex. */
  digest?: string | undefined
  /** SHA-256 of the list of changes that one approval asks for together: of the JSON array of their digests. */
  list?: string | undefined
  /** A rule of the organization under which it must have been given. */
  rule?: ExpectedRule | undefined
  /** Factors that must have passed. */
  factors?: readonly string[] | undefined
  /** Maximum number of seconds since the decision. */
  maxAgeS?: number | undefined
  /** Accept receipts made with a software key on a development service. */
  allowDev?: boolean
  /** Accept requests from a key that can influence who approves, and devices of unknown origin. */
  allowUnseparated?: boolean
  /** `strict`: the device must not go back to a key that created the requesting key, and its origin must be known. */
  separation?: 'strict' | undefined
  /** Accept requests from a local program without a credential. */
  allowUnauthenticated?: boolean
  /** Accept that somebody else was asked than the people whom the rules name. */
  allowBreakGlass?: boolean
  /** Accept a use of a grant, which no person saw. */
  allowGrant?: boolean
}

/** What receipts and uses of grants say of a request. */
type Asked = ReturnType<typeof askedOf>

/** Seconds by which this machine's clock may be behind. */
const skew = 60

const exact = [
  ['requester', 'aud', '; claimed by the requester, not verified'],
  ['requestId', 'jti', ''],
] as const

const checkIssuer = (claims: Asked, { issuer, allowDev }: Expectations, note: Note): void => {
  if (issuer !== undefined)
    note('expected issuer', claims.iss === issuer, `"${claims.iss}", expected "${issuer}"`)
  else if (!allowDev) note('expected issuer', false, `"${claims.iss}"; no expected issuer was named`)
}

/** The headline that the approver read must be this text. With another subject, the action is only a claim of the requester. */
const checkAction = (answers: Answers, { action }: Expectations, note: Note): void => {
  if (action === undefined) return
  const claims = askedOf(answers)
  const shown = headlineOf(answers)
  const words =
    claims.action === action && shown !== action ? '; the action is only a claim of the requester' : ''
  note('expected action', shown === action, `"${shown}", expected "${action}"${words}`)
}

const checkOrganization = (claims: Asked, expected: Expectations, note: Note): void => {
  const { id, slug } = claims.organization
  const found = `${slug} (id ${id})`
  const { organization, allowDev } = expected
  if (organization !== undefined)
    note('expected organization', [id, slug].includes(organization), `${found}, expected ${organization}`)
  else if (!allowDev) note('expected organization', false, `${found}; no expected organization was named`)
}

const influence =
  'the requesting key can influence who approves: it can enroll devices, or change keys, people or rules'

/** Checks that the requester cannot have approved its own request. */
const checkSeparation = (claims: ReceiptClaims, expected: Expectations, note: Note): void => {
  const { device, influences } = claims
  const { relation } = device.enrolled_by
  // No flag allows this: such a receipt proves only that the key was present.
  if (relation === 'self')
    note(
      'enrollment',
      false,
      'the requesting key itself enrolled the device of the approver, or the device that added it',
    )
  const problems = [influences && influence, relation === 'unknown' && originOf(relation)].filter(Boolean)
  if (problems.length > 0)
    note('separation', expected.allowUnseparated === true || expected.allowDev === true, problems.join('; '))
  if (expected.separation === 'strict')
    note('strict separation', relation === 'other' || relation === 'operator', originOf(relation))
}

const checkKey = ({ key }: Asked, expected: Expectations, note: Note): void => {
  if (key.id === '0' && key.name === unauthenticatedProgram)
    note(
      'authenticated requester',
      expected.allowUnauthenticated === true,
      'a program without a credential requested it',
    )
}

const checkTime = (claims: Asked, { maxAgeS }: Expectations, now: Date, note: Note): void => {
  const age = now.getTime() / 1000 - claims.iat
  note(
    'past',
    age >= -skew,
    age >= -skew ? 'decided before now' : 'decided in the future, by the clock of this machine',
  )
  if (maxAgeS !== undefined)
    note('age', age <= maxAgeS, `${Math.round(age)} s, expected at most ${maxAgeS} s`)
}

/** What is equal in all receipts of a set. */
const checkRequest = (answers: Answers, expected: Expectations, note: Note): void => {
  const claims = askedOf(answers)
  checkAction(answers, expected, note)
  for (const [name, claim, caveat] of exact) {
    const found = `"${claims[claim]}", expected "${expected[name]}"${caveat}`
    if (expected[name] !== undefined) note(`expected ${name}`, claims[claim] === expected[name], found)
  }
  checkIssuer(claims, expected, note)
  checkOrganization(claims, expected, note)
  checkKey(claims, expected, note)
  if (expected.digest !== undefined) {
    const { digest } = claims.subject
    note('expected subject', digest === expected.digest, `SHA-256 ${digest}, expected ${expected.digest}`)
  }
  if (expected.list !== undefined) {
    const { operation, file } = claims.subject.data
    const found = operation === 'batch' && isRecord(file) ? `SHA-256 ${String(file['sha256'])}` : 'no list'
    note('expected rows', found === `SHA-256 ${expected.list}`, `${found}, expected ${expected.list}`)
  }
}

const checkPerson = (claims: ReceiptClaims, { use }: Answers, expected: Expectations, note: Note): void => {
  const status = expected.status ?? 'approved'
  note('expected status', claims.status === status, `${claims.status}, expected ${status}`)
  checkSeparation(claims, expected, note)
  for (const factor of expected.factors ?? []) {
    const found = claims.factors.find((one) => one.factor === factor)?.result ?? 'not requested'
    // The person did confirm the grant, but nobody looked at place and time of a use.
    const result = use && factor !== 'biometric' ? `${found} when it was granted, not at this use` : found
    note(`expected factor ${factor}`, result === 'PASS', result)
  }
  note(
    'development',
    claims.dev !== true || expected.allowDev === true,
    claims.dev ? 'a software key, on a service started with --dev' : 'no',
  )
}

/** Compares genuine receipts of one request with the expectations, at `now`. */
export const checkExpectations = (
  answers: Answers,
  expected: Expectations,
  now: Date,
  notes: Notes,
): void => {
  const { receipts, completion, breakGlass, use } = answers
  if (use) notes()('granted', expected.allowGrant === true, useText(use))
  if (breakGlass) notes()('break glass', expected.allowBreakGlass === true, breakGlassText(breakGlass))
  checkRequest(answers, expected, notes())
  if (expected.rule) checkRule(receipts[0]!, expected.rule, notes())
  checkPeople(receipts, expected, notes())
  for (const [at, one] of receipts.entries()) {
    const note = notes(completion && `receipt ${at + 1}`)
    checkPerson(one, answers, expected, note)
    checkTime(use ?? one, expected, now, note)
  }
}
