import { invalid } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { findApprover, memberByEmail, memberByMobile } from './find-approver.ts'
import { requestApproval } from './request.ts'

/** Requests an approval, and sends the approver an e-mail that leads to it. */
export const sendAuthRequestByEmail: HandlerOf<'sendAuthRequestByEmail'> = async (
  { email, ...input },
  call,
) => {
  const { org_id, mobile, organization, first_name, ...member } = await memberByEmail(
    call,
    email,
    input.org_id,
  )
  const { request_id, number, expires_at } = await requestApproval(
    { ...input, approvers: [mobile], org_id },
    call,
  )
  const until = `${expires_at.slice(0, 16).replace('T', ' ')} UTC`
  const message_id = await call.send({
    org_id,
    channel: 'email',
    kind: 'auth_request',
    to: member.email,
    subject: `${organization}: approval request`,
    // E-mail can be read and changed on its way, so only the page shows the request. The link alone gives no access.
    text: [
      `Hello ${first_name},`,
      `${organization} has a request for you. Open it on the phone that you registered to see the details:`,
      `${call.service.publicUrl}/approver#request=${request_id}`,
      `You can decide until ${until}. If you did not expect a request, deny it.`,
    ].join('\n\n'),
    expires_at,
  })
  return { request_id, number, expires_at, message_id }
}

/** Requests an approval for another member; that this member is the requester is the caller's claim. */
export const sendAppAuthNotification: HandlerOf<'sendAppAuthNotification'> = async (
  { from_mobile, to_mobile, ...input },
  call,
) => {
  const from = parsePhone(from_mobile, undefined, 'from_mobile').mobile
  const to = parsePhone(to_mobile, undefined, 'to_mobile').mobile
  if (from === to) throw invalid('to_mobile', 'must differ from from_mobile')
  const { org_id } = await findApprover(call, to, input.org_id)
  const { first_name, last_name } = await memberByMobile(call, from, org_id)
  const requester = `${first_name} ${last_name} (${from})`
  const { request_id, number, expires_at } = await requestApproval(
    { ...input, approvers: [to], org_id, requester },
    call,
  )
  return { request_id, number, expires_at }
}
