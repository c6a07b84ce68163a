import type { mobile } from '../../contract/mobile.ts'
import { conflict } from '../../core/refusal.ts'
import type { Call, HandlerOf, Outside } from '../call/call.ts'
import { oneOf, parsePhone } from '../call/input.ts'
import type { RowData, RowInput } from '../call/row-ids.ts'
import { consumeOrRefuse } from '../limits/rate-limit.ts'
import { accountScope } from './person.ts'

// spec: not shown. Of one sender, and of everybody together: an address is easily made up.
const ofSender = { kind: 'support', atMost: 3, windowMs: 60 * 60_000 }
const ofAll = { kind: 'support', atMost: 60, windowMs: 60 * 60_000 }

type Letter = RowInput<typeof mobile.contactSupport>

const checkLimits = async (call: Call, sender: string): Promise<void> => {
  const org_id = accountScope(call)
  for (const [limit, subject, whose] of [
    [ofSender, sender, 'from this sender'],
    [ofAll, 'all', 'in total'],
  ] as const)
    await consumeOrRefuse(
      call,
      limit,
      { org_id, subject },
      {
        code: 'too_many_messages',
        what: `${limit.atMost} messages ${whose} were accepted in the last hour`,
      },
    )
}

const prepareSupport = async (
  input: Letter,
  { service }: Outside,
): Promise<(call: Call) => Promise<RowData<typeof mobile.contactSupport>>> => {
  oneOf(input, ['email', 'mobile'])
  const { name, email, subject, message } = input
  const sender = email ?? parsePhone(input.mobile!).mobile
  return async (call) => {
    if (service.supportEmail === undefined)
      throw conflict(
        'delivery_not_configured',
        'This service has no support address',
        'Set it with SVC_SUPPORT_EMAIL, or in the file of svc serve --config FILE',
      )
    await checkLimits(call, sender.toLowerCase())
    const message_id = await call.send({
      org_id: accountScope(call),
      channel: 'email',
      kind: 'support',
      to: service.supportEmail,
      ...(email !== undefined && { reply_to: email }),
      subject: `Support: ${subject}`,
      text: `${name} <${sender}> writes:\n\n${message}`,
    })
    await call.audit(accountScope(call), `message:${message_id}`, ['support'])
    return { message_id }
  }
}

export const contactSupport: HandlerOf<typeof mobile.contactSupport> = { before: prepareSupport }
