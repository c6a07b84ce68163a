import * as z from 'zod/mini'
import { chosen, nullable, optional, positive } from './field.ts'
import { time } from './records.ts'

/** People of whom some must agree, with what each has answered. */
export const approvalLine = z.strictObject({
  group: nullable(z.string(), 'Name of the group; null for people who were named'),
  need: chosen(positive, 'How many of them must agree'),
  rules: chosen(z.array(z.string()), 'Names of the rules that ask for it'),
  people: chosen(
    z.array(
      z.strictObject({
        user_id: chosen(z.string(), 'User id'),
        name: chosen(z.string(), 'Name'),
        mobile: chosen(z.string(), 'Mobile number, all but the last digits hidden'),
        answer: chosen(
          z.enum(['pending', 'approved', 'denied']),
          'What the person answered; denied also if the factors refused their approval',
        ),
        answered_at: nullable(time, 'When the person answered'),
        quiet: optional(
          z.literal(true),
          'Not notified: is away, muted the requester or has a limit of requests; they can answer',
        ),
      }),
    ),
    'The people who are asked',
  ),
})
export type ApprovalLine = z.infer<typeof approvalLine>
