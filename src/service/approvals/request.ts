import { randomInt } from 'node:crypto'
import type { ApprovalRecord } from '../../contract/approval.ts'
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
import type { Call, Requirement } from '../call/call.ts'
import { namedKeyOf, verifiedAs } from '../call/caller.ts'
import type { RowInput } from '../call/row-ids.ts'
import { mayInfluence } from '../keys/ancestry.ts'
import { scopesText } from '../keys/scopes.ts'
import { isRestrictedAmong } from '../policy/factor-settings.ts'
import { newRow } from '../storage/schema.ts'
import { readAskedBefore } from './ballots.ts'
import { breakGlass } from './break-glass.ts'
import { tellOfRequest } from './emergency-notices.ts'
import type { Approver } from './find-approver.ts'
import { useGrant } from './grant-use.ts'
import { grantableTerms } from './grants.ts'
import { readKeyOwner } from './key-owner.ts'
import { quietIn, readLines, wakeOf } from './lines.ts'
import { choosePool } from './pool.ts'
import { pushToDevices } from './push.ts'
import { remindAt } from './reminders.ts'
import { requiredFactors } from './required-factors.ts'
import { rulesOfRequest } from './rules-of-request.ts'
import type { ApprovalRow } from './rows.ts'
import { auditSubject, toApprovalRecord } from './record.ts'

type ApprovalInput = RowInput<'createApproval'>

const checkSubject = (subject: NonNullable<ApprovalInput['subject']>): Subject => {
  try {
    return readSubject(subject)
  } catch (error) {
    if (!(error instanceof SubjectError)) throw error
    const { path, message, isTooLarge } = error
    const field = `subject.${path}`
    if (!isTooLarge) throw invalid(field, message)
    throw new Refusal(413, 'subject_too_large', `${field} ${message}`, { issues: [{ field, message }] })
  }
}

// The approver signs exactly this text, so it is refused and never corrected.
const badText = /\0|\p{Cs}/u

/** Gives each person who is asked a ballot, and notifies them. */
const addBallots = async (call: Call, row: ApprovalRow, people: readonly Approver[]): Promise<void> => {
  const { request_id, org_id, requested_at } = row
  const known = await readAskedBefore(
    call,
    row,
    people.map(({ user_id }) => user_id),
  )
  const rows = people.map(({ user_id, mobile, first_name, last_name, twin }) => {
    const values = {
      request_id,
      org_id,
      user_id,
      mobile,
      name: `${first_name} ${last_name}`,
      twin,
      nonce: randomToken(16),
      status: 'pending',
      decided_at: null,
      device_id: null,
      attestation: null,
      requested_at,
      first_asked_by: known.has(user_id) ? null : row.asked_by,
    } as const
    return { ...values, row_mac: call.keyring.macOf('ballots', values) }
  })
  await call.db.insertInto('ballots').values(rows).execute()
  const quiet = quietIn(readLines(row))
  for (const { user_id } of people.filter((one) => !quiet.has(one.user_id))) {
    await pushToDevices(call, row, user_id)
    call.afterCommit(() => call.service.notifyApprover({ request_id, org_id, user_id }))
  }
}

/**
 * Adds a request and notifies the people it asks, after all checks. `held`: the service itself requests the approval that a
 * call requires. `via`: the interface that the call came through. Fails with a Refusal: 403, 404, 409, 422 or 429.
 */
export const requestApproval = async (
  input: ApprovalInput,
  call: Call,
  { held, via = 'api' }: { held?: Requirement; via?: 'api' | 'tools' } = {},
): Promise<ApprovalRecord> => {
  for (const field of ['action', 'reason', 'requester', 'break_glass'] as const)
    if (badText.test(input[field] ?? ''))
      throw invalid(field, 'must not contain NUL or an unpaired surrogate')
  if (input.action === undefined && input.subject === undefined)
    throw invalid('action', 'is required without a subject')
  const subject = checkSubject(input.subject ?? textSubject(input.action!))
  if (subject.type === 'text' && input.action !== undefined && input.action !== subject.data.text)
    throw invalid('action', 'must be the text of the subject, which people approve', 'Leave out action')
  // Such a list has rows, which createBatch stores.
  if (held === undefined && subject.type === 'request' && subject.data.operation === 'batch')
    throw invalid('subject.data.operation', 'must not be batch: only svc itself lists changes')
  const requester = input.requester ?? call.caller.name
  const { wanted, rules, terms, grant, skipped } = await rulesOfRequest(call, { input, subject, held, via })
  const { lifetime_s } = terms
  const expires_at = addMs(call.now, lifetime_s * 1000)
  const pool = await choosePool(call, wanted, {
    requester,
    lifetime_s,
    byRule: held !== undefined,
    breaksGlass: skipped !== undefined,
  })
  const { org_id, slug, policy, people } = pool
  const { factors, unchecked } = await requiredFactors(call, pool, policy, input, terms.factors)
  const owner = await readKeyOwner(call, org_id)
  const asked = new Set(people.map(({ user_id }) => user_id))
  const broken =
    skipped && (await breakGlass(call, org_id, { reason: input.break_glass!, lines: skipped, asked }))
  const asksNumber = input.number || policy.require_number || terms.number
  const number = asksNumber ? String(randomInt(10, 100)) : null
  const { keyId: key_id } = call.caller
  const offered = grantableTerms(grant, { key_id, lines: pool.lines, number, factors })
  const grantable = offered && (await isRestrictedAmong(call.db, people)) ? undefined : offered
  const values = newRow('approvals', {
    request_id: `apr_${randomToken(18)}`,
    org_id,
    key_id,
    asked_by: namedKeyOf(call.caller),
    requester,
    verified_as: verifiedAs(call.caller),
    action: input.action ?? summaryOf(subject),
    reason: input.reason ?? null,
    approver_mobile: people[0]!.mobile,
    lines: JSON.stringify(pool.lines),
    rules: JSON.stringify(rules),
    excluded: JSON.stringify(pool.excluded),
    factors: JSON.stringify(factors),
    number,
    requested_at: call.now,
    expires_at,
    remind_at: remindAt(expires_at, lifetime_s),
    subject_type: subject.type,
    subject_data: canonicalData(subject.data),
    subject_digest: digestOf(subject.data),
    key_name: call.caller.name,
    key_scopes: scopesText(call.caller.scopes),
    key_influences: call.caller.person || mayInfluence(call.caller) ? 1 : 0,
    org_slug: slug,
    by_rule: held ? 1 : 0,
    use_within_s: terms.use_within_s,
    asked_from: call.ip?.() ?? null,
    asked_via: via,
    key_owner: owner === undefined ? null : JSON.stringify(owner),
    unchecked_factors: unchecked.length === 0 ? null : JSON.stringify(unchecked),
    break_glass: broken ? JSON.stringify(broken) : null,
    grant_terms: grantable ? JSON.stringify(grantable) : null,
  })
  const used = grantable && (await useGrant(call, values))
  if (used) return toApprovalRecord(used, call)
  const added = call.db
    .insertInto('approvals')
    .values({ ...values, row_mac: call.keyring.macOf('approvals', values) })
    .returningAll()
    .executeTakeFirstOrThrow()
  // Sent together, the insertion first: the quota counts it.
  const [row] = await Promise.all([added, call.claim(org_id, 'pending_approvals')])
  if (broken) await tellOfRequest(call, row)
  await addBallots(call, row, people)
  await call.audit(org_id, auditSubject(row.request_id))
  call.wake(wakeOf(row))
  return toApprovalRecord(row, call)
}
