import { randomInt } from 'node:crypto'
import type { approval, ApprovalRecord } from '../../contract/approval.ts'
import type { Policy } from '../../contract/policy.ts'
import { factors as allFactors } from '../../contract/records.ts'
import { randomToken } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { invalid, Refusal } from '../../core/refusal.ts'
import { summaryOf } from '../../receipt/subject-text.ts'
import {
  canonicalData,
  digestOf,
  readSubject,
  type Subject,
  SubjectError,
  textSubject,
} from '../../receipt/subject.ts'
import { hasPolicy } from '../../rules/decide.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf, verifiedAs } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import type { RowInput } from '../call/row-ids.ts'
import { mayInfluence } from '../keys/ancestry.ts'
import { scopesText } from '../keys/scopes.ts'
import { readStanding } from '../policy/rules.ts'
import { type Approver, findApprover } from './find-approver.ts'
import { checkLimits } from './limits.ts'
import { pushToDevices } from './push.ts'
import { answered, type ApprovalRow, subjectOf } from './record.ts'
import { checkDevices, checkRequester } from './separation.ts'

type RequestedAction = {
  action?: string | undefined
  subject?: { type: string; data: object; digest?: string | undefined } | undefined
}

const checked = (given: NonNullable<RequestedAction['subject']>): Subject => {
  try {
    return readSubject(given)
  } catch (error) {
    if (!(error instanceof SubjectError)) throw error
    const { path, message, isTooLarge } = error
    const field = `subject.${path}`
    if (!isTooLarge) throw invalid(field, message)
    throw new Refusal(413, 'subject_too_large', `${field} ${message}`, { issues: [{ field, message }] })
  }
}

/** What exactly is asked, and the words of the requester for it. Without a subject, the action itself is all there is. */
export const askedSubject = ({
  action,
  subject: given,
}: RequestedAction): { subject: Subject; action: string } => {
  if (action === undefined && given === undefined) throw invalid('action', 'is required without a subject')
  const subject = checked(given ?? textSubject(action!))
  return { subject, action: action ?? summaryOf(subject) }
}

type Factor = (typeof allFactors)[number]
type ApprovalInput = RowInput<typeof approval.createApproval>

const defaultLifetime = 300
const defaultUse = 600

// The approver signs exactly this text: it is refused or kept, never mended.
const badText = /\0|\p{Cs}/u

const checkText = (field: string, text: string | undefined): void => {
  if (text !== undefined && badText.test(text)) throw invalid(field, 'must not hold NUL or half a character')
}

/** The command with which an organization gets something to check a factor against. */
const commandFor: Partial<Record<Factor, string>> = {
  location:
    'svc geofence create --name NAME --latitude DEGREES --longitude DEGREES --radius METRES --is-active 1',
  time: 'svc timeslot create --name NAME --days mon,tue,wed,thu,fri --start 09:00 --end 17:00 --timezone ZONE',
}

/**
 * Nothing to check a factor against is an error before a phone rings: the approval would say yes to a requester who takes
 * it as checked. A device needs no policy, as each approval is signed by a registered one.
 */
const refuseUnchecked = (unchecked: Factor[], asked: Factor[], { slug }: Approver): void => {
  if (unchecked.length === 0) return
  const who = unchecked.every((factor) => asked.includes(factor)) ? 'this request' : 'the organization'
  const what = unchecked
    .map((factor) => (factor === 'time' ? 'time slot' : 'geofence'))
    .join(' and no active ')
  const commands = unchecked.map((factor) => `${commandFor[factor]} --org ${slug}`)
  throw invalid(
    'factors',
    `cannot include ${unchecked.join(' and ')}: ${who} requires it, and ${slug} has no active ${what} to check it against`,
    `Leave it out, or first: ${commands.join('; ')}`,
  )
}

/**
 * What must pass, in one order: what was asked for, what the organization asks of everybody, and always the device's
 * own check of its user. What is only reported is not among it.
 */
const requiredFactors = async (call: Call, approver: Approver, asked: Factor[] = []): Promise<Factor[]> => {
  const policy = JSON.parse(approver.policy) as Policy
  const wanted = new Set<Factor>([...asked, ...(policy.factors ?? [])])
  wanted.delete('biometric')
  if (wanted.size > 0) {
    const rules = await readStanding(call.db, approver.org_id, approver.user_id)
    refuseUnchecked(
      [...wanted].filter((factor) => !hasPolicy(rules, factor)),
      asked,
      approver,
    )
  }
  const reported = policy.report_only ?? []
  return allFactors.filter(
    (factor) => factor === 'biometric' || (wanted.has(factor) && !reported.includes(factor)),
  )
}

/**
 * Adds a request and rings; all checks first. `byRule`: the service asks by itself, for a call that requires an approval. Fails
 * with a Refusal: 403, 404, 409, 422 or 429.
 */
export const requestApproval = async (
  input: ApprovalInput,
  call: Call,
  { byRule = false } = {},
): Promise<ApprovalRecord> => {
  checkText('action', input.action)
  checkText('reason', input.reason)
  checkText('requester', input.requester)
  const { subject, action } = askedSubject(input)
  const { mobile } = parsePhone(input.approver_mobile, undefined, 'approver_mobile')
  const approver = await findApprover(call, mobile, input.org_id)
  const policy = JSON.parse(approver.policy) as Policy
  checkRequester(call, approver, policy, byRule)
  await checkDevices(call, approver, policy)
  const factors = await requiredFactors(call, approver, input.factors)
  const requester = input.requester ?? call.caller.name
  await checkLimits(call, approver, requester)
  const { require_number = false } = policy
  const lifetime = (input.lifetime_s ?? defaultLifetime) * 1000
  const asked = {
    request_id: `apr_${randomToken(18)}`,
    org_id: approver.org_id,
    user_id: approver.user_id,
    key_id: call.caller.keyId,
    asked_by: namedKeyOf(call.caller),
    requester,
    verified_as: verifiedAs(call.caller),
    action,
    reason: input.reason ?? null,
    approver_mobile: mobile,
    factors: JSON.stringify(factors),
    number: input.number || require_number ? String(randomInt(10, 100)) : null,
    nonce: randomToken(16),
    requested_at: call.now,
    expires_at: addMs(call.now, lifetime),
    format: 2,
    subject_type: subject.type,
    subject_data: canonicalData(subject.data),
    subject_digest: digestOf(subject.data),
    key_name: call.caller.name,
    key_scopes: scopesText(call.caller.scopes),
    key_influences: mayInfluence(call.caller) ? 1 : 0,
    org_slug: approver.slug,
    by_rule: byRule ? 1 : 0,
    use_within_s: input.use_within_s ?? defaultUse,
  } as const
  const row: ApprovalRow = await call.db
    .insertInto('approvals')
    .values({ ...asked, row_mac: call.keyring.macOf('approvals', asked) })
    .returningAll()
    .executeTakeFirstOrThrow()
  const { request_id, org_id, user_id } = row
  await call.claim(org_id, 'pending_approvals')
  await call.audit(org_id, subjectOf(request_id))
  await pushToDevices(call, row)
  call.wake(row)
  call.ring({ request_id, org_id, user_id })
  return answered(row, call.caller)
}
