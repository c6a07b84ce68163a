import * as z from 'zod/mini'
import { approvalRecord, request_id } from './approval.ts'
import { foldedInRequest } from './approval-state.ts'
import { operations } from './declaration.ts'
import { line, optional } from './field.ts'
import { givesChallenge, signedChallenge } from './records.ts'

// What is said of an emergency afterwards, under /svc/v1. spec: not shown

const said = {
  request_id,
  ok: optional(z.boolean(), 'It was an emergency'),
  dispute: optional(
    z.boolean(),
    'It was not; changes nothing that was done, and is told to everybody who was told of it',
  ),
  note: optional(line(500), 'Why; required with dispute', {
    example: 'The restore could have waited',
  }),
}

export const review = operations({
  reviewApproval: {
    route: 'POST /svc/v1/approvals/{request_id}/review',
    cli: 'approve review',
    scope: ['ask', 'read'],
    summary: 'Say of an emergency whether it was one, signed by a person whom nobody asked',
    message: 'Emergency reviewed',
    example: 'apr_3mYk8wQZ --ok',
    input: z.strictObject(said),
    data: approvalRecord,
    folded: foldedInRequest,
  },
  beginReview: {
    route: 'POST /svc/v1/approver/requests/{request_id}/review/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for reviewing an emergency',
    input: z.strictObject(said),
  },
  signReview: {
    route: 'POST /svc/v1/approver/requests/{request_id}/review',
    summary: 'Say of an emergency whether it was one, signed by the device of the session',
    message: 'Emergency reviewed',
    input: z.strictObject({ ...said, ...signedChallenge }),
  },
})
