import { hourMs } from '../../core/iso-time.ts'
import { conflict } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { oneOf, parsePhone } from '../call/input.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'
import { accountScope } from './person.ts'

// spec: not shown. A sender's address is easily made up, so the total is limited too.
const perSender = { kind: 'support', atMost: 3, windowMs: hourMs }
const total = { kind: 'support', atMost: 60, windowMs: hourMs }

export const contactSupport: HandlerOf<'contactSupport'> = {
  before: async (input, { service }) => {
    oneOf(input, ['email', 'mobile'])
    const { name, email, subject, message } = input
    const sender = email ?? parsePhone(input.mobile!).mobile
    return async (call) => {
      const org_id = accountScope(call)
      if (service.supportEmail === undefined)
        throw conflict(
          'delivery_not_configured',
          'This service has no support address',
          'Set it with SVC_SUPPORT_EMAIL, or in the file of svc serve --config FILE',
        )
      for (const [limit, limited, whose] of [
        [perSender, sender.toLowerCase(), 'from this sender'],
        [total, 'all', 'in total'],
      ] as const)
        await consumeOrRefuse(
          call,
          limit,
          { org_id, subject: limited },
          {
            code: 'too_many_messages',
            what: `${limit.atMost} messages ${whose} were accepted in the last hour`,
          },
        )
      const message_id = await call.send({
        org_id,
        channel: 'email',
        kind: 'support',
        to: service.supportEmail,
        ...(email !== undefined && { reply_to: email }),
        subject: `Support: ${subject}`,
        text: `${name} <${sender}> writes:\n\n${message}`,
      })
      await call.audit(org_id, `message:${message_id}`, ['support'])
      return { message_id }
    }
  },
}
