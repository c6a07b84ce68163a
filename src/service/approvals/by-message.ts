import type { notify } from '../../contract/notify.ts'
import { invalid } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { findApprover, memberByEmail, memberByMobile } from './find-approver.ts'
import { requestApproval } from './request.ts'

/** `2030-01-31 12:05 UTC` */
const spoken = (time: string): string => `${time.slice(0, 16).replace('T', ' ')} UTC`

/**
 * What is asked stands on the page alone: mail is read on the way, and its reader would decide by words that nothing
 * protects. The link opens nothing by itself, so it is no secret.
 */
const letter = (
  who: { first_name: string; organization: string },
  link: string,
  expires_at: string,
): string =>
  [
    `Hello ${who.first_name},`,
    `A request of ${who.organization} waits for your decision. Open it on the phone that you registered, and read there what is asked:`,
    link,
    `It can be decided until ${spoken(expires_at)}. If you expect no request, deny it there.`,
  ].join('\n\n')

/** An approval, and a letter that leads to it. Fails with a Refusal as an approval does, and as its message does. */
export const sendAuthRequestByEmail: HandlerOf<typeof notify.sendAuthRequestByEmail> = async (
  { email, ...asked },
  call,
) => {
  const member = await memberByEmail(call, email, asked.org_id)
  const { org_id, mobile, organization } = member
  const { request_id, number, expires_at } = await requestApproval(
    { ...asked, approver_mobile: mobile, org_id },
    call,
  )
  const message_id = await call.send({
    org_id,
    channel: 'email',
    kind: 'auth_request',
    to: member.email,
    subject: `${organization}: a request waits for you`,
    text: letter(member, `${call.publicUrl}/approver#request=${request_id}`, expires_at),
    expires_at,
  })
  return { request_id, number, expires_at, message_id }
}

/** An approval whose requester is another member, as whoever calls says. */
export const sendAppAuthNotification: HandlerOf<typeof notify.sendAppAuthNotification> = async (
  { from_mobile, to_mobile, ...asked },
  call,
) => {
  const from = parsePhone(from_mobile, undefined, 'from_mobile').mobile
  const to = parsePhone(to_mobile, undefined, 'to_mobile').mobile
  if (from === to) throw invalid('to_mobile', 'must be another number than from_mobile')
  const { org_id } = await findApprover(call, to, asked.org_id)
  const { first_name, last_name } = await memberByMobile(call, from, org_id)
  const requester = `${first_name} ${last_name} (${from})`
  const { request_id, number, expires_at } = await requestApproval(
    { ...asked, approver_mobile: to, org_id, requester },
    call,
  )
  return { request_id, number, expires_at }
}
