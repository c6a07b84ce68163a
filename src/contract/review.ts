import * as z from 'zod/mini'
import { approvalRecord, request_id } from './approval.ts'
import { foldedInRequest } from './approval-state.ts'
import { operations } from './declaration.ts'
import { line, optional } from './field.ts'

// What is said of an emergency afterwards, under /svc/v1. spec: not shown

export const review = operations({
  reviewApproval: {
    route: 'POST /svc/v1/approvals/{request_id}/review',
    cli: 'approve review',
    scope: ['ask', 'read'],
    summary: 'Say of an emergency whether it was one, signed by a person whom nobody asked',
    message: 'Emergency reviewed',
    example: 'apr_3mYk8wQZ --ok',
    input: z.strictObject({
      request_id,
      ok: optional(z.boolean(), 'It was an emergency'),
      dispute: optional(
        z.boolean(),
        'It was not; changes nothing that was done, and is told to everybody who was told of it',
      ),
      note: optional(line(500), 'Why; required with dispute', {
        example: 'The restore could have waited',
      }),
    }),
    data: approvalRecord,
    folded: foldedInRequest,
  },
})
