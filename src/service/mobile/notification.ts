import { invalid } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { parsePhone } from '../call/input.ts'
import { reachOrganization } from '../call/tenant.ts'
import { sendOneTimeCode } from '../devices/otp.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'

const limit = { atMost: 5, windowMs: 10 * 60_000 }
const queued = { channel: 'sms', state: 'queued' } as const

/** Does not look up the number, so the answer is the same for every number. Throws 409 or 429. */
export const sendGlobalNotification: HandlerOf<'sendGlobalNotification'> = async (input, call) => {
  const { type, title, message } = input
  // The text of a code is fixed, so that no caller can put other words around it.
  if (type === 'otp') {
    for (const [field, text] of Object.entries({ title, message }))
      if (text !== undefined)
        throw invalid(field, 'cannot be used with type otp: the text of a code is fixed')
  } else if (message === undefined) throw invalid('message', `is missing: it is the text of the ${type}`)
  const { mobile } = parsePhone(input.mobile)
  if (input.org_id !== undefined) await reachOrganization(call, input.org_id)
  const org_id = input.org_id ?? call.caller.orgId ?? 0
  if (type === 'otp') {
    const { message_id, ...sent } = await sendOneTimeCode(call, { org_id, mobile })
    return { message_id, ...queued, ...sent }
  }

  const kind = `${type}_send`
  const consumed = await consumeOrRefuse(
    call,
    { kind, ...limit },
    { org_id, subject: mobile },
    {
      code: 'too_many_sends',
      what: `${limit.atMost} messages of type ${type} were sent to this number in the last ${limit.windowMs / 60_000} minutes`,
    },
  )
  const text = title === undefined ? message! : `${title}\n${message}`
  const message_id = await call.send({ org_id, channel: 'sms', kind: type, to: mobile, text })
  await call.audit(org_id, `message:${message_id}`, [type])
  return {
    message_id,
    ...queued,
    expires_at: null,
    sends_left: consumed.left,
    next_send_at: consumed.next_at,
  }
}
