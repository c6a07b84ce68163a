import { randomInt } from 'node:crypto'
import type { approval, ApprovalRecord } from '../../contract/approval.ts'
import type { Policy } from '../../contract/policy.ts'
import { factors as allFactors } from '../../contract/records.ts'
import { randomToken } from '../../core/ids.ts'
import { addMs } from '../../core/iso-time.ts'
import { conflict, invalid } from '../../core/refusal.ts'
import { canonicalData, digestOf } from '../../receipt/subject.ts'
import { hasPolicy } from '../../rules/decide.ts'
import type { Call } from '../call/call.ts'
import { namedKeyOf, verifiedAs } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import type { RowInput } from '../call/row-ids.ts'
import { reachOrganization } from '../call/tenant.ts'
import { hasActiveDevice } from '../devices/proof.ts'
import { mayInfluence } from '../keys/influence.ts'
import { scopesText } from '../keys/scopes.ts'
import { readStanding } from '../policy/rules.ts'
import { checkLimits } from './limits.ts'
import { pushToDevices } from './push.ts'
import { answered, type ApprovalRow, subjectOf } from './record.ts'
import { checkDevices, checkRequester } from './separation.ts'
import { askedSubject } from './subject.ts'

type Factor = (typeof allFactors)[number]
type ApprovalInput = RowInput<typeof approval.createApproval>
type Approver = { org_id: number; user_id: number; policy: string; organization: string; slug: string }

const defaultLifetime = 300
const defaultUse = 600

// The approver signs exactly this text: it is refused or kept, never mended.
const badText = /\0|\p{Cs}/u

const checkText = (field: string, text: string | undefined): void => {
  if (text !== undefined && badText.test(text)) throw invalid(field, 'must not hold NUL or half a character')
}

/** Who can decide here: an active member with that phone and a device that counts. Why there is none is not told. */
export const findApprover = async (
  call: Call,
  mobile: string,
  orgId: number | undefined,
): Promise<Approver> => {
  if (orgId !== undefined) await reachOrganization(call, orgId)
  const meant = orgId ?? call.caller.orgId
  const candidates = await call.db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where('p.mobile', '=', mobile)
    .where('m.state', '=', 'active')
    .$if(meant !== null, (query) => query.where('m.org_id', '=', meant!))
    .select(['m.org_id', 'm.user_id', 'o.policy', 'o.name as organization', 'o.slug'])
    .orderBy('m.org_id')
    .execute()
  const approvers: Approver[] = []
  for (const candidate of candidates) if (await hasActiveDevice(call, candidate)) approvers.push(candidate)
  const [approver, ...others] = approvers
  if (!approver)
    throw conflict(
      'approver_not_enrolled',
      'No active user with this phone has a registered device',
      'svc user enroll <user-id> makes a link with which the user registers one',
    )
  if (others.length > 0)
    throw invalid(
      'org_id',
      'is required: this approver is in several organizations',
      `give org_id, one of ${approvers.map((one) => one.org_id).join(', ')}`,
    )
  return approver
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
