import * as z from 'zod/mini'
import { approvalRecord } from './approval.ts'
import { breakGlassOf } from './break-glass.ts'
import { grantingRequest, grantRecord } from './grant.ts'
import { origin, outcomeRecord } from './page-requests.ts'
import { shownPerson } from './page.ts'
import { chosen, id, line, nullable, optional } from './field.ts'
import { operations } from './declaration.ts'

// What people were asked and what became of it, on the approver page, under /svc/v1/approver. spec: not shown

const { request_id, requester, verified_as, requested_at } = approvalRecord.shape

const decisionRecord = z.extend(outcomeRecord, {
  requester,
  verified_as,
  requested_at,
  signed: chosen(z.boolean(), 'Whether it has a receipt, which the approver signed'),
})

const { credential, what, varying, used, uses, ends_at } = grantRecord.shape
const ownGrant = z.looseObject({
  request_id: grantingRequest,
  credential,
  what,
  varying,
  used,
  uses,
  ends_at,
})

const before = optional(line(64), 'Only requests older than this one, from `next`')
const next = nullable(z.string(), 'The `before` of the next page; null on the last page')

export const pageHistory = operations({
  listOwnDecisions: {
    route: 'GET /svc/v1/approver/decisions',
    summary: 'List what the signed-in person was asked and what became of it, newest first',
    message: 'Decisions',
    input: z.strictObject({ before }),
    data: z.looseObject({
      decisions: chosen(z.array(decisionRecord), 'Requests that are no longer pending'),
      grants: chosen(
        z.array(ownGrant),
        'What the person allowed again and that has not ended; only on the first page',
      ),
      next,
    }),
  },
  endOwnGrant: {
    route: 'POST /svc/v1/approver/grants/{request_id}/end',
    summary: 'End a grant of the signed-in person, with its approvals that were not used yet',
    message: 'Grant ended',
    input: z.strictObject({ request_id: grantingRequest }),
  },
  getDecision: {
    route: 'GET /svc/v1/approver/decisions/{request_id}',
    summary:
      'Show a request as it was signed, and its receipt, to its approver, to an administrator and, of an emergency, to everybody who was told',
    message: 'Decision',
    input: z.strictObject({ request_id }),
    data: z.extend(decisionRecord, {
      own: chosen(z.boolean(), 'Whether the signed-in person was asked'),
      member: chosen(shownPerson, 'The approver'),
      lines: approvalRecord.shape.lines,
      action: approvalRecord.shape.action,
      reason: approvalRecord.shape.reason,
      break_glass: breakGlassOf('Names'),
      used_at: approvalRecord.shape.used_at,
      can_review: optional(z.literal(true), 'The signed-in person can say whether it was an emergency'),
      subject: approvalRecord.shape.subject,
      expires_at: approvalRecord.shape.expires_at,
      origin: chosen(origin, 'Where the request came from'),
      receipt: nullable(
        z.string(),
        'The receipt as a file, exactly as `svc approve request --receipt` writes it',
      ),
      receipt_digest: approvalRecord.shape.receipt_digest,
      cleared_at: approvalRecord.shape.cleared_at,
    }),
  },
  listDecisions: {
    route: 'GET /svc/v1/approver/organization/decisions',
    summary: 'List what the members of the organization were asked, for an administrator, newest first',
    message: 'Decisions',
    input: z.strictObject({ before, user_id: optional(id, 'Only requests to this person') }),
    data: z.looseObject({
      decisions: chosen(
        z.array(z.extend(decisionRecord, { member: chosen(shownPerson, 'The approver') })),
        'Requests that are no longer pending',
      ),
      next,
    }),
  },
})
