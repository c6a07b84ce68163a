import * as z from 'zod/mini'
import { approvalRecord, request_id } from './approval.ts'
import { batchOperations, mostBatchRows } from './batchable.ts'
import { chosen, nullable, optional } from './field.ts'
import { operations } from './declaration.ts'
import { reasonText } from './reason-text.ts'
import { mobile, org_id, paging, time } from './records.ts'
import { scopes } from './scopes.ts'
import { subjectRecord } from './subject.ts'

// One approval for many changes, under /svc/v1. spec: not shown

export const batchRow = z.strictObject({
  operation: chosen(z.enum(batchOperations), 'Operation'),
  input: chosen(z.looseObject({}), 'Its whole input, with the organization'),
  mobile: optional(
    mobile,
    'Number of the user whom it concerns, instead of an id: another row may create them',
  ),
})

const row_index = chosen(z.int(), 'Index of the row under the approval')

export const batch = operations({
  createBatch: {
    route: 'POST /svc/v1/organizations/{org_id}/batches',
    cli: 'approve batch',
    // Those of its rows, which it checks too: a key that can send none is refused before its list is read.
    scope: ['people', 'rules', 'keys'],
    hidden: true,
    summary: 'Request one approval for many changes that rules of the organization hold',
    message: 'Approval requested',
    example: `--org acme --rows '{"operation":"removeUser","input":{"org_id":1,"user_id":"7"}}'`,
    input: z.strictObject({
      org_id,
      rows: chosen(
        z
          .array(batchRow)
          .check(
            z.minLength(1, 'must contain at least one row'),
            z.maxLength(mostBatchRows, `must contain at most ${mostBatchRows} rows; split the list`),
          ),
        'The changes; the service computes what people sign from them',
        { example: [{ operation: 'removeUser', input: { org_id: 1, user_id: '7' } }], whole: true },
      ),
      skip_existing: optional(
        z.boolean(),
        'Leave out the users who already exist, instead of refusing the list',
      ),
      reason: optional(reasonText, 'Reason for the request', { example: 'Fixes the login outage' }),
    }),
    data: z.looseObject({
      request_id,
      status: approvalRecord.shape.status,
      expires_at: approvalRecord.shape.expires_at,
      lines: approvalRecord.shape.lines,
      row_indexes: chosen(
        z.array(z.nullable(z.int())),
        'For each row, its index under the approval; null if it needs none',
      ),
      existing: chosen(z.array(z.int()), 'Places in the list of the users who already exist'),
      asks_again: chosen(z.optional(z.string()), 'Why an approval of the last day does not do'),
    }),
    folded: ['lines', 'row_indexes', 'existing'],
  },
  listBatchRows: {
    route: 'GET /svc/v1/approvals/{request_id}/rows',
    cli: 'approve rows',
    scope: scopes,
    summary: 'List the changes that one approval asks for together',
    message: 'Rows',
    example: 'apr_3mYk8wQZ',
    input: z.strictObject({ request_id, ...paging }),
    data: z.array(
      z.looseObject({
        row_index,
        summary: subjectRecord.shape.summary,
        data: subjectRecord.shape.data,
        digest: subjectRecord.shape.digest,
        used_at: nullable(time, 'When it was used'),
      }),
    ),
    columns: ['row_index', 'summary', 'used_at'],
    folded: ['data'],
  },
})
