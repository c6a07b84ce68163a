import * as z from 'zod/mini'
import { actionText, approvalStates, reasonText } from './approval.ts'
import { chosen, shown } from './field.ts'
import { factors } from './records.ts'

/** The longest wait, and how long it is when nobody says. spec: not shown (default and maximum of timeout_s) */
export const waitSeconds = { default: 120, most: 600 }

const ask = {
  action: shown(
    actionText,
    'What you are about to do, in words that the approver understands: what, to which system, how much. It is shown to them exactly so, and only this is approved.',
    { example: 'Deploy release 4.2 of the shop to production' },
  ),
  reason: shown(z.optional(reasonText), 'Why, in a sentence or two; shown to the approver.', {
    example: 'Fixes the login outage',
  }),
  approver_mobile: shown(
    z.optional(
      z
        .string()
        .check(
          z.regex(
            /^\+[1-9]\d{6,14}$/,
            'must be a phone number in E.164, such as +12025550101, without spaces',
          ),
        ),
    ),
    'The phone of the person to ask, E.164. Leave it out to ask the default approver, where one is configured. Never invent one.',
    { example: '+12025550101', personal: true },
  ),
  factors: shown(
    z.optional(z.array(z.enum(factors))),
    'What is checked besides the approval itself; leave it out for the default.',
    { example: ['biometric'] },
  ),
}

// The specification's fields are shown; the further ones we chose. spec: not shown (contents of attestation)
const state = shown(z.enum(approvalStates), 'approved, denied, expired, or pending: nobody has decided yet.')
const attestation = shown(
  z.optional(z.looseObject({})),
  'The signed receipt of the decision. Keep it: anyone can verify it offline.',
)
const detail = shown(z.optional(z.string()), 'What this means, or how it came about.')
const further = {
  bound_to_action: chosen(
    z.optional(z.literal(false)),
    'Stands here when the person was asked to authenticate but did not see this very action.',
  ),
  notice: chosen(z.optional(z.string()), 'Read this: it is not the real thing.'),
}

const approvalOutput = z.looseObject({
  status: state,
  attestation,
  request_id: chosen(z.string(), 'The request, for your records.'),
  detail,
  ...further,
})

const pendingOutput = z.looseObject({
  status: shown(z.literal('pending'), 'Nobody has decided yet.'),
  request_id: shown(z.string(), 'Give it to check_status.'),
  approver_mobile: shown(z.string(), 'The phone that is asked.'),
  expires_at: shown(z.string(), 'When the request lapses (date-time); after that it is expired.'),
  number: chosen(
    z.optional(z.string()),
    'Tell this number to the user: the approver must type it on the phone.',
  ),
  detail,
  ...further,
})

const statusOutput = z.looseObject({
  status: state,
  request_id: shown(z.string(), 'The request that you asked about.'),
  attestation,
  detail,
  ...further,
})

/** What each state means, for whoever has to act on it. */
export const meanings: Record<(typeof approvalStates)[number], string> = {
  approved: 'A person approved exactly this action. Do that, once, and nothing more.',
  denied:
    'The person refused. Do not do it, do not look for another way, and do not ask again unless the user says so.',
  expired: 'Nobody decided in time, or the request was withdrawn. That is no approval: do not do it.',
  pending: 'Nobody has decided yet. That is no approval: wait, and ask check_status again in a few seconds.',
}

const states =
  'Only "approved" lets you go ahead, and only with the very action that was asked. "denied": the person refused; ' +
  'stop, and do not ask again unless the user says so. "expired": nobody decided in time; this is not consent. ' +
  '"pending": nobody has decided yet; this is not consent either. An error means that nothing was approved.'

export type Tool = {
  title: string
  description: string
  input: z.ZodMiniObject
  output: z.ZodMiniObject
  /** Whether it changes nothing and may be called again at will. */
  reads: boolean
}

/** The three tools, as an agent is told of them. */
export const tools = {
  request_approval: {
    title: 'Ask a person and wait',
    description:
      'Ask a named person to approve a sensitive action on their phone, and wait for the answer. Call it before you ' +
      'do anything that is destructive, costly, public or hard to undo. The call blocks until the person decides, ' +
      `for timeout_s seconds at most. ${states} Silence is never consent. Do not repeat the call to get another ` +
      'answer: each call rings a phone.',
    input: z.strictObject({
      ...ask,
      timeout_s: shown(
        z.optional(
          z
            .int('must be a whole number of seconds')
            .check(
              z.gte(1, 'must be 1 or more'),
              z.lte(waitSeconds.most, `must be ${waitSeconds.most} or less`),
            ),
        ),
        `How long to wait, seconds; ${waitSeconds.default} when left out. After that the request is withdrawn.`,
        { example: 120 },
      ),
    }),
    output: approvalOutput,
    reads: false,
  },
  request_approval_async: {
    title: 'Ask a person and go on',
    description:
      'Ask a named person to approve a sensitive action on their phone, and return at once with a request_id. The ' +
      'answer is always "pending", which approves nothing: call check_status with the request_id until it says ' +
      `something else. ${states} Silence is never consent. Each call rings a phone.`,
    input: z.strictObject(ask),
    output: pendingOutput,
    reads: false,
  },
  check_status: {
    title: 'See what the person decided',
    description:
      'Tell the state of a request made with request_approval_async. It changes nothing and rings no phone. ' +
      `${states} Wait a few seconds between two calls.`,
    input: z.strictObject({
      request_id: shown(
        z
          .string()
          .check(z.minLength(1, 'must not be empty'), z.maxLength(200, 'must have at most 200 characters')),
        'The request_id that request_approval_async returned.',
        { example: 'apr_3mYk8wQZ' },
      ),
    }),
    output: statusOutput,
    reads: true,
  },
} satisfies Record<string, Tool>

export type ToolName = keyof typeof tools
export type AskInput = z.infer<typeof tools.request_approval.input>
export type ApprovalOutput = z.infer<typeof approvalOutput>
export type PendingOutput = z.infer<typeof pendingOutput>
export type StatusOutput = z.infer<typeof statusOutput>

/** How a program should use the whole server. */
export const instructions =
  'These tools ask a human, on their phone, before something sensitive happens. Ask before you act; go ahead only on ' +
  '"approved"; treat "denied", "expired", "pending" and every error as a no. Never invent a phone number, and never ' +
  'take silence for consent.'
