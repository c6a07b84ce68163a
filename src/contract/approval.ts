import * as z from 'zod/mini'
import { approvalLine } from './approval-line.ts'
import { approvalStates, foldedInRequest, withdrawnMark } from './approval-state.ts'
import { lineTexts } from './line-text.ts'
import { breakGlassOf, breakGlassReason } from './break-glass.ts'
import { chosen, line, nullable, optional, positive, seconds, seen } from './field.ts'
import { operations } from './declaration.ts'
import { reasonText } from './reason-text.ts'
import { factorRuling, factors, mobile, orgOfKey, personal, time, timeline } from './records.ts'
import { scopes } from './scopes.ts'
import { sha256Hex, subjectInput, subjectRecord } from './subject.ts'

// Approvals under /svc/v1: request one, wait for the decision, use it once.
// spec: not shown (the specification has the three tools)

export type ApprovalState = (typeof approvalStates)[number]

/** At most as long as a phone can show; longer text is refused and never cut. */
export const actionText = z
  .string()
  .check(
    z.minLength(1, 'must not be empty'),
    z.maxLength(500, 'must have at most 500 characters'),
    z.regex(/^$|\S/, 'must not be blank'),
    seen,
  )

/** `{format: "jws", jws, kid, claims}`; see `receipt/receipt.ts`. */
export const receipt = z.looseObject({
  format: chosen(z.literal('jws'), 'Format of the signature'),
  jws: chosen(z.string(), 'The signed receipt'),
  kid: chosen(z.string(), 'Id of the signing key in /.well-known/jwks.json'),
  claims: chosen(z.looseObject({}), 'The decoded claims'),
})

/** Of several people: all of their receipts, and what the service signed at the end; see `receipt/set.ts`. */
const receiptSet = z.looseObject({
  format: chosen(z.literal('set'), 'Receipts of several people'),
  receipts: chosen(z.array(receipt), 'The receipt of everybody who agreed'),
  completion: chosen(receipt, 'What the service signed once everybody who was needed had agreed'),
})

/** A use of what was granted earlier; see `receipt/grant-use.ts`. */
const grantedReceipt = z.looseObject({
  format: chosen(z.literal('grant'), 'A use of what somebody allowed earlier'),
  use: chosen(receipt, 'What the service signed of this use'),
  receipt: chosen(receipt, 'The receipt of the person who allowed it, with another request'),
})

const attestation = z.discriminatedUnion('format', [receipt, receiptSet, grantedReceipt])

export const request_id = chosen(line(64), 'Request id', { example: 'apr_3mYk8wQZ' })

export const approvalRecord = z.looseObject({
  request_id,
  org_id: chosen(positive, 'Organization id'),
  status: chosen(z.enum(approvalStates), 'pending, approved, denied or expired'),
  action: chosen(z.string(), 'The action to approve, as the requester describes it'),
  reason: nullable(z.string(), 'Reason for the request'),
  requester: chosen(z.string(), 'The requester (claimed, not verified)'),
  verified_as: nullable(z.string(), 'The requesting credential (verified)'),
  key_owner: optional(
    z.strictObject({
      user_id: chosen(z.string(), 'User id'),
      name: chosen(z.string(), 'Name'),
      mobile: chosen(z.string(), 'Mobile number, all but the last digits hidden'),
      confirmed: chosen(
        z.boolean(),
        'Whether their device confirmed it, as for an agent; otherwise it is claimed',
      ),
      twin: chosen(z.boolean(), 'Whether another active member had the same name, or one that looks like it'),
    }),
    'Owner of the requesting key, if it has one',
  ),
  approver_mobile: chosen(z.string(), 'Mobile number of the approver; of several, the first', {
    personal: true,
  }),
  lines: optional(z.array(approvalLine), 'Who must agree; every line, and each person for one line'),
  rules: optional(z.array(z.string()), 'Names of the rules that hold the request'),
  break_glass: breakGlassOf('User ids'),
  factors: chosen(z.array(z.enum(factors)), 'Factors to check'),
  number: nullable(z.string(), 'The number to type on the phone, shown to the requester only'),
  detail: nullable(z.string(), 'Details of the result'),
  note: optional(z.string(), "The approver's note to the requester, signed with the denial"),
  requested_at: chosen(time, 'When it was requested'),
  expires_at: chosen(time, 'When it expires'),
  decided_at: nullable(time, 'When it was decided'),
  ruling: nullable(
    z.array(factorRuling),
    'Results of the rules at the decision, by factor; null if they were not checked',
  ),
  attestation: nullable(attestation, 'The receipt, once a person has decided'),
  subject: nullable(
    subjectRecord,
    'What exactly is approved; null for requests made before subjects existed',
  ),
  use_by: nullable(time, 'When the approval stops being usable'),
  used_at: nullable(time, 'When the approval was used'),
  granted_until: optional(time, 'Until when its approver allowed the same again'),
  granted_by: optional(request_id, 'The request with which this was allowed earlier; nobody saw this one'),
  grant_use: optional(positive, 'Which use of what was allowed earlier it is'),
  cleared_at: optional(time, 'When its texts and its receipt were removed, after the retention period'),
  receipt_digest: optional(z.string(), 'SHA-256 of the receipt that was removed'),
  subject_digest: optional(z.string(), 'SHA-256 of the subject whose data was removed'),
})
export type ApprovalRecord = z.infer<typeof approvalRecord>

const columns = [
  'request_id',
  'status',
  'requested_at',
  'action',
  'lines',
  'break_glass',
  'verified_as',
  'detail',
  'expires_at',
]

export const approval = operations({
  createApproval: {
    route: 'POST /svc/v1/approvals',
    cli: 'approve submit',
    args: ['action'],
    effect: 'notifies',
    scope: 'ask',
    summary: 'Request an approval and return immediately',
    message: 'Approval requested',
    example: '"Deploy 4.2 to production" --to +12025550101 --org acme',
    input: z.strictObject({
      action: optional(actionText, 'The action to approve, described for the approver', {
        example: 'Deploy 4.2 to production',
        unless: 'subject',
      }),
      subject: optional(subjectInput, 'What exactly to approve: type and data; the approver reads the data', {
        whole: true,
      }),
      reason: optional(reasonText, 'Reason for the request', {
        example: 'Fixes the login outage',
      }),
      approvers: optional(
        lineTexts,
        'Who must approve: a number, several with commas (one of them), @group or @group:2; each --to must agree. Rules add lines, and with one nobody need be named',
        { example: ['+12025550101'], personal: true, flag: 'to', repeat: true },
      ),
      factors: optional(z.array(z.enum(factors)), 'Factors to check; default: biometric', {
        example: ['biometric'],
      }),
      default_factors: optional(
        z.array(z.enum(factors)),
        'Factors to check if none are named; one without a geofence or time slot is reported as not checked',
      ),
      lifetime_s: optional(
        seconds(1, 86_400),
        'Time for the decision, in seconds; default: that of its rules, or 300; more than 3600 only if a rule allows it',
        {
          example: 300,
          flag: 'timeout',
        },
      ),
      use_within_s: optional(seconds(1, 86_400), 'Seconds to use it; at most as rules say; default: 600', {
        example: 600,
        flag: 'use-within',
      }),
      number: optional(z.boolean(), 'Require the approver to type a number that only the requester sees'),
      break_glass: breakGlassReason,
      requester: optional(
        line(120),
        'Name of the requester; the approver sees it as a claim, next to the key',
        { example: 'CI of acme/web' },
      ),
      org_id: orgOfKey,
    }),
    data: approvalRecord,
    folded: foldedInRequest,
  },
  getApproval: {
    route: 'GET /svc/v1/approvals/{request_id}',
    cli: 'approve status',
    scope: scopes,
    summary: 'Show an approval request, or wait for its decision',
    message: 'Approval',
    example: 'apr_3mYk8wQZ',
    input: z.strictObject({
      request_id,
      wait_s: optional(seconds(1, 60), 'Seconds to wait for the decision before answering', {
        example: 30,
        flag: 'wait',
      }),
    }),
    data: approvalRecord,
    folded: foldedInRequest,
  },
  listApprovals: {
    route: 'GET /svc/v1/approvals',
    cli: 'approve list',
    scope: ['ask', 'read'],
    summary: 'List approval requests, newest first',
    message: 'Approvals',
    example: '--status pending',
    input: z.strictObject({
      status: optional(
        z.enum([...approvalStates, withdrawnMark]),
        'Only requests in this state; those that were withdrawn are also expired',
        { example: 'pending' },
      ),
      approver_mobile: optional(mobile, 'Only requests to this phone, E.164', {
        ...personal.e164,
        flag: 'to',
      }),
      org_id: optional(positive, 'Only requests of this organization', { example: 1 }),
      ...timeline,
    }),
    data: z.array(approvalRecord),
    columns,
    wide: ['detail', 'verified_as', 'requested_at', 'expires_at', 'lines', 'action'],
  },
  withdrawApproval: {
    route: 'POST /svc/v1/approvals/{request_id}/withdraw',
    cli: 'approve withdraw',
    scope: scopes,
    summary: 'Withdraw a pending request; nobody can decide it any more',
    message: 'Request withdrawn',
    example: 'apr_3mYk8wQZ',
    input: z.strictObject({ request_id }),
    data: approvalRecord,
    folded: foldedInRequest,
  },
  consumeApproval: {
    route: 'POST /svc/v1/approvals/{request_id}/consume',
    scope: 'ask',
    cli: 'approve consume',
    summary: 'Use an approval, which works once; the digest must be that of its subject',
    message: 'Approval used',
    example: `apr_3mYk8wQZ --digest ${'ab'.repeat(32)}`,
    input: z.strictObject({
      request_id,
      digest: chosen(sha256Hex, 'SHA-256 of the subject that you will carry out', {
        example: 'ab'.repeat(32),
      }),
    }),
    data: approvalRecord,
    folded: foldedInRequest,
  },
})
