import { randomToken, sha256 } from '../../core/ids.ts'
import { notFound } from '../../core/refusal.ts'
import { findApprover } from '../approvals/find-approver.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { namedKeyOf } from '../call/caller.ts'
import { oneOf, parsePhone } from '../call/input.ts'
import type { RowInput } from '../call/row-ids.ts'
import { readMobile, withinOrganization } from '../call/tenant.ts'
import { addVerification, findMember, findVerification, refuseUnready, spend } from './verification.ts'

/** The person to verify. A number reveals nothing about who has it; only an id can be reported as unknown. */
const findSubject = async (call: Call, { user_id, mobile, org_id }: RowInput<'generateAuthToken'>) => {
  if (mobile !== undefined) return findApprover(call, parsePhone(mobile).mobile, org_id)
  const member = await findMember(call, { user_id, org_id })
  return findApprover(call, await readMobile(call, member.user_id), member.org_id)
}

export const generateAuthToken: HandlerOf<'generateAuthToken'> = async (input, call) => {
  oneOf(input, ['user_id', 'mobile'])
  const { org_id, user_id } = await findSubject(call, input)
  const auth_token = randomToken()
  const row = await addVerification(call, {
    request_id: `ver_${randomToken(18)}`,
    org_id,
    user_id,
    key_id: namedKeyOf(call.caller),
    kind: 'token',
    token_hash: sha256(auth_token),
  })
  await call.audit(org_id, `verification:${row.request_id}`, ['auth_token'])
  return { request_id: row.request_id, user_id, auth_token, expires_at: row.expires_at }
}

/** Uses up a token to record the caller's claim. The token of another tenant is answered like an unknown one. */
export const saveFaceauthSuccess: HandlerOf<'saveFaceauthSuccess'> = async ({ auth_token }, call) => {
  const { orgId } = call.caller
  const known = await call.db
    .selectFrom('verifications')
    .where('token_hash', '=', sha256(auth_token))
    .where(withinOrganization(orgId, 'org_id'))
    .select(['org_id', 'user_id', 'request_id'])
    .executeTakeFirstOrThrow(() => notFound('Auth token'))
  const row = await findVerification(call, known)
  if (row.token_hash !== sha256(auth_token)) throw notFound('Auth token')
  const refusal = await refuseUnready(call, row)
  if (refusal) return refusal
  await spend(call, row, { outcome: 'success', source: 'caller' })
  return { user_id: row.user_id, request_id: row.request_id, source: 'caller', recorded_at: call.now }
}
