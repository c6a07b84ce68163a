import { safeLine } from '../../core/safe-text.ts'
import type { Receipt } from '../../receipt/claims.ts'
import { findApprover } from '../approvals/find-approver.ts'
import { wakeOf } from '../approvals/lines.ts'
import { auditSubject } from '../approvals/record.ts'
import { requestApproval } from '../approvals/request.ts'
import { endPending } from '../approvals/rows.ts'
import { requireApprovers } from '../approvals/ballots.ts'
import { requireSameRules } from '../approvals/rules-of-request.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import type { Member } from '../call/tenant.ts'
import {
  addVerification,
  capturedFactors,
  denied,
  findMember,
  findVerification,
  refuseUnready,
  spend,
} from './verification.ts'

/** Ends prompts that are still pending, so that no decision counts afterwards. */
export const withdrawPrompts = async (
  { db, keyring, now, audit, wake }: Call,
  which: { request_id: string } | (Member & { key_id: number }),
  detail: string,
): Promise<void> => {
  const pending = await db
    .selectFrom('approvals')
    .where('status', '=', 'pending')
    .where('request_id', 'in', (query) =>
      query
        .selectFrom('verifications')
        .where('kind', '=', 'prompt')
        .where(({ and }) => and(which))
        .select('request_id'),
    )
    .selectAll()
    .execute()
  for (const one of pending) {
    const end = endPending({ db, keyring }, one, { status: 'expired', detail, ended_at: now })
    if (!(await end.returning('id').executeTakeFirst())) continue
    await audit(one.org_id, auditSubject(one.request_id), ['status', 'withdrawn'])
    wake(wakeOf(one))
  }
}

/** Requests an approval from the person. Throws if the request fails, so that success means that a prompt was sent. */
export const verifyUser: HandlerOf<'verifyUser'> = async ({ country_code, mobile, org_id: named }, call) => {
  const phone = parsePhone(mobile, country_code)
  const { org_id, user_id, organization } = await findApprover(call, phone.mobile, named)
  const key_id = namedKeyOf(call.caller)
  // A mobile number finds only the newest prompt of a key, so an older one is of no use.
  await withdrawPrompts(call, { org_id, user_id, key_id }, 'replaced by a newer prompt')
  const { request_id, number, expires_at } = await requestApproval(
    { action: `Verify your identity for ${safeLine(organization)}`, approvers: [phone.mobile], org_id },
    call,
  )
  await addVerification(call, { request_id, org_id, user_id, key_id, kind: 'prompt', token_hash: null })
  return { request_id, user_id, number, expires_at }
}

/** The specification shows the full number with its country prefix, and no plus. */
const withPlus = (mobile: string): string => (/^[1-9]\d{6,14}$/.test(mobile) ? `+${mobile}` : mobile)

/** The answer of the person; an approval is reported once. Only an answer that a phone signed counts. */
export const validateAuth: HandlerOf<'validateAuth'> = async ({ mobile, request_id, org_id }, call) => {
  const member = await findMember(call, { mobile: parsePhone(withPlus(mobile)).mobile, org_id })
  const row = await findVerification(call, {
    ...member,
    key_id: namedKeyOf(call.caller),
    request_id,
    kind: 'prompt',
  })
  const refusal = await refuseUnready(call, row)
  if (refusal) return refusal
  const factors = capturedFactors(row)
  const { prompt } = row
  if (prompt?.status !== 'approved' || prompt.attestation === null) return denied(factors, 'service')
  await requireSameRules(call, prompt)
  await requireApprovers(call, prompt)
  await spend(call, row, { outcome: 'success', source: 'service' })
  const attestation = JSON.parse(prompt.attestation) as Receipt
  const { user_id, request_id: id } = row
  return { user_id, request_id: id, decision: 'PASS', source: 'service', factors, attestation }
}
