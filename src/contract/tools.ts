import * as z from 'zod/mini'
import { approvalStates } from './approval-state.ts'
import { actionText } from './approval.ts'
import { reasonText } from './reason-text.ts'
import { lineTexts } from './line-text.ts'
import { chosen, formed, optional, shown } from './field.ts'
import { factors, personal } from './records.ts'
import { subjectTypes } from './subject.ts'

/** Seconds that request_approval waits. spec: not shown (default and maximum of timeout_s) */
export const waitSeconds = {
  /** Default: shorter than the 60 seconds after which most clients give up. */
  withoutProgress: 50,
  /** Default for a client that accepts progress notifications. */
  withProgress: 120,
  most: 600,
}

const ask = {
  action: shown(
    actionText,
    'What you are about to do: what, to which system, how much. The approver sees exactly this text.',
    { example: 'Deploy release 4.2 of the shop to production' },
  ),
  subject: optional(
    z.strictObject({ type: z.enum(subjectTypes), data: z.looseObject({}) }),
    'Exactly what you will do; the approver reads it. For example type tool_call, data {server, tool, arguments}.',
  ),
  reason: shown(z.optional(reasonText), 'Why, in a sentence or two. The approver sees it.', {
    example: 'Fixes the login outage',
  }),
  approver_mobile: shown(
    z.optional(
      formed(/^\+[1-9]\d{6,14}$/, 'must be a phone number in E.164, such as +12025550101, without spaces'),
    ),
    "The approver's phone, E.164. Omit it to ask the default approver. Never invent one.",
    personal.e164,
  ),
  approvers: optional(
    lineTexts,
    'Instead of approver_mobile, several people: each item must agree, such as "@sre:2" or "+12025550101,+12025550102" (one of them).',
  ),
  factors: shown(z.optional(z.array(z.enum(factors))), 'What to check. Omit it for the default.', {
    example: ['biometric'],
  }),
}

// The fields of the specification are shown; we chose the others. spec: not shown (contents of attestation)
// Answers can also contain `bound_to_action: false`, if the person did not see the action, and the `notice` of the demo.
const state = shown(z.enum(approvalStates), 'Only "approved" is an approval.')
const attestation = shown(z.optional(z.looseObject({})), 'Signed receipt; anyone can verify it offline.')
const detail = shown(z.optional(z.string()), 'What it means and what to do next.')
const expiry = 'When it expires without a decision (date-time).'
const number = optional(z.string(), 'Tell the user: the approver must type it on the phone.')

const approvalOutput = z.looseObject({
  status: state,
  attestation,
  request_id: chosen(z.string(), 'For check_status, and for your records.'),
  expires_at: optional(z.string(), expiry),
  number,
  detail,
})

const pendingOutput = z.looseObject({
  status: shown(z.literal('pending'), 'Not an approval.'),
  request_id: shown(z.string(), 'For check_status.'),
  approver_mobile: shown(z.string(), 'Mobile number of the approver.'),
  expires_at: shown(z.string(), expiry),
  number,
  detail,
})

const statusOutput = z.looseObject({
  status: state,
  request_id: shown(z.string(), 'The request.'),
  attestation,
  expires_at: optional(z.string(), expiry),
  number,
  detail,
})

/** What each state means for the program that acts on it. */
export const meanings: Record<(typeof approvalStates)[number], string> = {
  approved: 'Approved. Do exactly this action, once.',
  denied: 'The approver refused. Do not do it, and do not ask again unless the user tells you to.',
  expired:
    'Not approved: it expired or was withdrawn. Do not do it. To ask again, first make sure that the approver is available.',
  pending: 'Not decided yet, so not approved. Call check_status again in a few seconds.',
}

/** What `approved` means if the approver did not see the action. */
export const unboundMeaning =
  'The approver authenticated on the phone, but was not shown the action: nothing proves what was approved. ' +
  'Tell the user so, and go ahead only if they agree.'

export type Tool = {
  title: string
  description: string
  input: z.ZodMiniObject
  output: z.ZodMiniObject
  /** Whether it changes nothing and can be called any number of times. */
  reads: boolean
}

/** The three tools, as agents see them. */
export const tools = {
  request_approval: {
    title: 'Ask a person and wait',
    description:
      'Ask a person to approve a sensitive action on their phone, and wait for the decision. Call it before anything ' +
      'destructive, costly, public or hard to undo. Go ahead only on "approved", and only with exactly this action. ' +
      'Anything else, including an error or no answer, is not consent. If the answer is "pending", call check_status, or ' +
      'repeat this call unchanged to keep waiting for the same request.',
    input: z.strictObject({
      ...ask,
      timeout_s: shown(
        z.optional(z.int('must be a whole number of seconds').check(z.gte(1, 'must be 1 or more'))),
        `Seconds to wait, at most ${waitSeconds.most}; then the request is withdrawn. Omit it to wait about a minute and leave the request open.`,
        { example: 120 },
      ),
    }),
    output: approvalOutput,
    reads: false,
  },
  request_approval_async: {
    title: 'Ask a person and continue',
    description:
      'Ask as request_approval does, but return "pending" and a request_id immediately. That is not consent: call ' +
      'check_status until the status is "approved".',
    input: z.strictObject(ask),
    output: pendingOutput,
    reads: false,
  },
  check_status: {
    title: 'Check the decision',
    description:
      'Get the state of a request. It changes nothing and notifies no one. Only "approved" is consent; "pending", ' +
      '"denied" and "expired" are not consent. Wait a few seconds between calls.',
    input: z.strictObject({
      request_id: shown(
        z
          .string()
          .check(z.minLength(1, 'must not be empty'), z.maxLength(200, 'must have at most 200 characters')),
        'The request_id from an earlier answer.',
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
  '"approved"; treat "denied", "expired", "pending" and every error as a refusal. Never invent a phone number, and ' +
  'never treat a missing answer as consent.'
