import type { auth } from '../../contract/auth.ts'
import { addMs } from '../../core/iso-time.ts'
import { safeLine } from '../../core/safe-text.ts'
import { findApprover } from '../approvals/find-approver.ts'
import { auditSubject } from '../approvals/record.ts'
import { requestApproval } from '../approvals/request.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { parsePhone } from '../call/input.ts'
import {
  capturedFactors,
  denied,
  findVerification,
  lifetimeMs,
  receiptOf,
  spend,
  spent,
  whoIsMeant,
  whyNotYet,
} from './verification.ts'

/** Ends prompts that nobody has answered yet; no decision counts after it. */
export const withdrawPrompts = async (
  { db, now, audit, wake }: Call,
  {
    request_id,
    member,
  }: { request_id?: string; member?: { org_id: number; user_id: number; key_id: number } },
  detail: string,
): Promise<void> => {
  const ended = await db
    .updateTable('approvals')
    .set({ status: 'expired', detail, ended_at: now })
    .where('status', '=', 'pending')
    .where('request_id', 'in', (query) =>
      query
        .selectFrom('verifications as v')
        .where('v.kind', '=', 'prompt')
        .$if(request_id !== undefined, (one) => one.where('v.request_id', '=', request_id!))
        .$if(member !== undefined, (all) =>
          all
            .where('v.org_id', '=', member!.org_id)
            .where('v.user_id', '=', member!.user_id)
            .where('v.key_id', '=', member!.key_id),
        )
        .select('v.request_id'),
    )
    .returningAll()
    .execute()
  for (const one of ended) {
    await audit(one.org_id, auditSubject(one.request_id), ['status'])
    wake(one)
  }
}

/** Rings: an approval whose action says what it is. Fails as one does, so that only a prompt that was sent is a success. */
export const verifyUser: HandlerOf<typeof auth.verifyUser> = async (
  { country_code, mobile, org_id: wanted },
  call,
) => {
  const phone = parsePhone(mobile, country_code)
  const { org_id, user_id, organization } = await findApprover(call, phone.mobile, wanted)
  const key_id = namedKeyOf(call.caller)
  // Only the newest prompt of a key can be meant by a number, so an older one asks for nothing.
  await withdrawPrompts(call, { member: { org_id, user_id, key_id } }, 'replaced by a newer prompt')
  const { request_id, number, expires_at } = await requestApproval(
    { action: `Verify your identity for ${safeLine(organization)}`, approver_mobile: phone.mobile, org_id },
    call,
  )
  await call.db
    .insertInto('verifications')
    .values({
      request_id,
      org_id,
      user_id,
      key_id,
      kind: 'prompt',
      created_at: call.now,
      expires_at: addMs(call.now, lifetimeMs),
    })
    .execute()
  return { request_id, user_id, number, expires_at }
}

/** The specification shows the full number with its country prefix, and no plus. */
const withPlus = (mobile: string): string => (/^[1-9]\d{6,14}$/.test(mobile) ? `+${mobile}` : mobile)

/** What the person answered; a yes is told once. Only what a phone signed counts here, no word of a caller. */
export const validateAuth: HandlerOf<typeof auth.validateAuth> = async (
  { mobile, request_id, org_id },
  call,
) => {
  const member = await whoIsMeant(call, { mobile: parsePhone(withPlus(mobile)).mobile, org_id })
  const row = await findVerification(call.db, {
    ...member,
    key_id: namedKeyOf(call.caller),
    request_id,
    kind: 'prompt',
  })
  const not = await whyNotYet(call, row)
  if (not) return not
  const factors = capturedFactors(row)
  const attestation = receiptOf(row)
  if (row.status !== 'approved' || !attestation) return denied(factors, 'service')
  if (!(await spend(call, row, { outcome: 'success', source: 'service' }))) return spent()
  const { user_id, request_id: id } = row
  return { user_id, request_id: id, decision: 'PASS', source: 'service', factors, attestation }
}
