import * as z from 'zod/mini'
import { actionText, approval } from './approval.ts'
import { chosen, line, nullable, optional } from './field.ts'
import { operations } from './declaration.ts'
import { email, mobileE164, personal, time } from './records.ts'

// Bodies and data of the notification operations. spec: not shown

const { action, reason, factors, lifetime_s, number, requester, org_id } = approval.createApproval.input.shape
/** The fields of an approval request, on any channel. */
const question = { action, reason, factors, number, lifetime_s }

const message_id = chosen(z.string(), 'Id of the message in the outbox')
const requested = {
  request_id: chosen(z.string(), 'Request id, for svc approve wait'),
  number: nullable(z.string(), 'The number to type on the phone, if one is required'),
  expires_at: chosen(time, 'When the request expires'),
}

export const notificationTypes = ['otp', 'alert', 'notice'] as const

export const notify = operations({
  sendGlobalNotification: {
    route: 'POST /send/global/notification',
    cli: 'notify global',
    effect: 'notifies',
    scope: 'notify',
    summary:
      'Send a code, an alert or a notice to a mobile number, by SMS; at most five of each in ten minutes',
    message: 'Message accepted',
    example: '--to +12025550101 --type notice --message "The door on the roof is open."',
    input: z.strictObject({
      mobile: chosen(mobileE164, 'Mobile number of the recipient, E.164', { ...personal.e164, flag: 'to' }),
      type: chosen(
        z.enum(notificationTypes),
        'otp sends a one-time code; alert and notice send your message',
        { example: 'notice' },
      ),
      title: optional(line(80), 'First line of an alert or a notice', { example: 'Door' }),
      message: optional(actionText, 'Text of an alert or a notice', {
        example: 'The door on the roof is open.',
      }),
      org_id,
    }),
    data: z.looseObject({
      message_id,
      channel: chosen(z.literal('sms'), 'Channel'),
      state: chosen(z.literal('queued'), 'Always queued; the outbox shows the delivery'),
      expires_at: nullable(time, 'When the code expires; null for an alert or a notice'),
      sends_left: chosen(z.int(), 'Number of times it can be sent again now'),
      next_send_at: chosen(time, 'When it can be sent again'),
    }),
  },
  sendAuthRequestByEmail: {
    route: 'POST /send-auth-request-by-email',
    cli: 'notify email',
    args: ['action'],
    effect: 'notifies',
    scope: 'ask',
    summary: 'Request an approval by e-mail address, and e-mail a link to the approver page',
    message: 'Approval requested',
    example: '"Sign in to payroll" --to ada@acme.example',
    input: z.strictObject({
      email: chosen(email, 'E-mail address of the user', { ...personal.email, flag: 'to' }),
      ...question,
      requester,
      org_id,
    }),
    data: z.looseObject({ ...requested, message_id }),
  },
  sendAppAuthNotification: {
    route: 'POST /send/app-auth/notification',
    cli: 'notify app',
    args: ['action'],
    effect: 'notifies',
    scope: 'ask',
    summary: 'Request an approval from one mobile user on behalf of another',
    message: 'Approval requested',
    example: '"Open the safe" --from +12025550102 --to +12025550101',
    input: z.strictObject({
      from_mobile: chosen(mobileE164, 'Mobile number of the requester, an active user, E.164', {
        example: '+12025550102',
        personal: true,
        flag: 'from',
      }),
      to_mobile: chosen(mobileE164, 'Mobile number of the approver, E.164', { ...personal.e164, flag: 'to' }),
      ...question,
      org_id,
    }),
    data: z.looseObject(requested),
  },
})
