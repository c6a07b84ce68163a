import * as z from 'zod/mini'
import { approvalRecord, ceremony } from './approval.ts'
import { chosen, id } from './field.ts'
import { operations } from './operation.ts'
import { factorRuling, time } from './records.ts'

// A request as the person who is asked sees it, under /svc/v1/approver. spec: not shown

/** A request as the approver sees it, without the number. */
export const pendingRecord = z.looseObject({
  request_id: approvalRecord.shape.request_id,
  action: approvalRecord.shape.action,
  reason: approvalRecord.shape.reason,
  requester: approvalRecord.shape.requester,
  verified_as: approvalRecord.shape.verified_as,
  subject: approvalRecord.shape.subject,
  factors: approvalRecord.shape.factors,
  requested_at: approvalRecord.shape.requested_at,
  expires_at: approvalRecord.shape.expires_at,
  expires_in_ms: chosen(z.number(), 'Milliseconds left, by the clock of the service'),
  number_required: ceremony.shape.number_required,
  contexts: ceremony.shape.contexts,
  conditions: chosen(
    z.array(
      z.strictObject({
        factor: chosen(z.enum(['biometric', 'location', 'time', 'device', 'ip']), 'What is checked'),
        required: chosen(z.boolean(), 'False if it is only recorded'),
        options: chosen(
          z.array(z.string()),
          'Some of the places, hours or networks, one of which must match',
        ),
        total: chosen(z.int(), 'Number of these places, hours or networks'),
        outlook: chosen(
          z.enum(['pass', 'fail', 'unknown']),
          'The result if the approver approved now; unknown if only the phone can tell',
        ),
      }),
    ),
    'Everything that an approval is checked against',
  ),
})

/** Who or what ended a request. `service`: an upgrade or a newer prompt; `detail` says which. */
export const endings = ['person', 'rules', 'number', 'requester', 'time', 'key', 'service'] as const

/** What became of a request. */
export const outcomeRecord = z.looseObject({
  request_id: approvalRecord.shape.request_id,
  headline: chosen(z.string(), 'What was requested, in one line'),
  status: approvalRecord.shape.status,
  ended_by: chosen(z.nullable(z.enum(endings)), 'Who or what ended it; null while it is pending'),
  ended_at: chosen(z.nullable(time), 'When it ended'),
  device: chosen(
    z.nullable(
      z.strictObject({
        id: chosen(id, 'Device id'),
        name: chosen(z.string(), 'Name of the device'),
      }),
    ),
    'The device that decided it',
  ),
  refused: chosen(z.array(factorRuling), 'The rules that refused an approval; empty in any other case'),
  note: approvalRecord.shape.note,
  detail: approvalRecord.shape.detail,
})

export const approverRequests = operations({
  getOwnRequest: {
    method: 'GET',
    path: '/svc/v1/approver/requests/{request_id}',
    cli: 'approver request',
    session: true,
    summary: 'Show what became of a request to the signed-in person',
    message: 'Request',
    input: z.strictObject({ request_id: approvalRecord.shape.request_id }),
    data: outcomeRecord,
  },
})
