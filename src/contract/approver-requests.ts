import * as z from 'zod/mini'
import { approvalRecord } from './approval.ts'
import { chosen, id } from './field.ts'
import { operations } from './operation.ts'
import { factorRuling, time } from './records.ts'

// What became of a request, for the person who was asked, under /svc/v1/approver. spec: not shown

/** Who or what ended a request. `service`: an upgrade or a newer prompt; `detail` says which. */
export const endings = ['person', 'rules', 'number', 'requester', 'time', 'key', 'service'] as const

export const approverRequests = operations({
  getOwnRequest: {
    method: 'GET',
    path: '/svc/v1/approver/requests/{request_id}',
    cli: 'approver request',
    session: true,
    summary: 'Show what became of a request to the signed-in person',
    message: 'Request',
    input: z.strictObject({ request_id: approvalRecord.shape.request_id }),
    data: z.looseObject({
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
    }),
  },
})
