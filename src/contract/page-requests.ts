import * as z from 'zod/mini'
import { approvalRecord, request_id } from './approval.ts'
import { ceremony } from './device.ts'
import { breakGlassOf } from './break-glass.ts'
import { chosen, id, nullable, optional, some } from './field.ts'
import { operations } from './declaration.ts'
import { subjectRecord } from './subject.ts'
import { givesChallenge, factorRuling, factors, signedChallenge, time } from './records.ts'

// A request as the person who is asked sees it, under /svc/v1/approver. spec: not shown

/** Where a request came from: what the service verified, apart from what the requester says. */
export const origin = z.strictObject({
  id: chosen(z.string(), 'Identifies the requester among those that ask the person; also the id of a mute'),
  credential: nullable(
    z.strictObject({
      kind: chosen(
        z.enum(['key', 'agent', 'member', 'token']),
        'API key, agent, a member at the approver page, or the token of the tool server',
      ),
      name: chosen(z.string(), 'Its name'),
      owner: approvalRecord.shape.key_owner,
    }),
    'The credential of the requester (verified); null if it had none',
  ),
  claimed_name: nullable(
    z.string(),
    'What the requester calls itself (not verified); null if that is the name of the credential',
  ),
  address: nullable(z.string(), 'IP address that the request came from'),
  network: nullable(z.string(), 'Allowed network of the organization that contains the address'),
  via: chosen(
    z.enum(['api', 'tools', 'rule']),
    'api; tools: the tool server; rule: the service itself, because a call needs an approval',
  ),
})

const numberMissed = chosen(
  z.boolean(),
  'Whether the approver has typed a wrong number; another one denies the request',
)

const progress = optional(
  z.strictObject({
    groups: chosen(z.array(z.string()), 'Groups for which the person is asked; none if by name'),
    approved: chosen(z.int(), 'How many have approved who count'),
    needed: chosen(z.int(), 'How many must'),
    waiting: chosen(z.array(z.string()), 'Names of the others whose approval would bring it further'),
  }),
  'Why the person is asked, and how far it is; left out if nobody else is and by name',
)

/** A request as the approver sees it, without the number. */
export const pendingRecord = z.looseObject({
  request_id,
  action: approvalRecord.shape.action,
  reason: approvalRecord.shape.reason,
  requester: approvalRecord.shape.requester,
  verified_as: approvalRecord.shape.verified_as,
  origin: chosen(origin, 'Where the request came from'),
  first_time: optional(z.literal(true), 'The requesting key had never asked this person before'),
  subject: approvalRecord.shape.subject,
  factors: approvalRecord.shape.factors,
  requested_at: approvalRecord.shape.requested_at,
  expires_at: approvalRecord.shape.expires_at,
  expires_in_ms: chosen(z.number(), 'Milliseconds left, by the clock of the service'),
  number_required: ceremony.shape.number_required,
  number_missed: numberMissed,
  deny_check: chosen(
    z.enum(['verification', 'presence']),
    'Device check for a denial; presence: the device need not verify its user',
  ),
  contexts: ceremony.shape.contexts,
  lines: approvalRecord.shape.lines,
  grant: ceremony.shape.grant,
  progress,
  break_glass: breakGlassOf('Names'),
  earlier_denial: nullable(
    z.strictObject({
      name: chosen(z.string(), 'Who denied it'),
      own: optional(z.literal(true), 'The person who reads this denied it'),
      at: chosen(time, 'When'),
      note: approvalRecord.shape.note,
    }),
    'The last denial of exactly this within a day; null if there was none',
  ),
  reported: optional(
    z.strictObject({
      name: chosen(z.string(), 'Who reported it'),
      own: optional(z.literal(true), 'The person who reads this did'),
    }),
    'Somebody who is asked has muted this requester, which can still ask their groups',
  ),
  conditions: chosen(
    z.array(
      z.strictObject({
        factor: chosen(z.enum([...factors, 'ip']), 'What is checked'),
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

/**
 * Who or what ended a request. `grant`: the person had allowed it earlier, and did not see this one. `report`: the person reported another request of its requester. `service`: an upgrade or a
 * newer prompt; `detail` says which.
 */
export const endings = [
  'person',
  'grant',
  'factors',
  'number',
  'requester',
  'time',
  'key',
  'report',
  'service',
] as const

const { data, summary, fields } = subjectRecord.shape

const request_ids = chosen(some(request_id, 20, 'request'), 'Ids of pending requests to the signed-in person')

/** What became of a request. */
export const outcomeRecord = z.looseObject({
  request_id,
  headline: chosen(z.string(), 'What was requested, in one line'),
  status: approvalRecord.shape.status,
  ended_by: nullable(z.enum(endings), 'Who or what ended it; null while it is pending'),
  ended_at: nullable(time, 'When it ended'),
  by: optional(z.array(z.string()), 'Names of those whose answers ended it, unless it was the reader'),
  answer: optional(z.enum(['approved', 'denied']), 'What the signed-in person answered'),
  device: nullable(
    z.strictObject({ id: chosen(id, 'Device id'), name: chosen(z.string(), 'Name of the device') }),
    'The device that decided it',
  ),
  refused: chosen(z.array(factorRuling), 'The rules that refused an approval; empty in any other case'),
  note: approvalRecord.shape.note,
  grant: optional(
    z.strictObject({
      request_id: chosen(request_id, 'The request with which it was granted'),
      use: chosen(z.int(), 'Which use of the grant it is'),
      uses: chosen(z.int(), 'How many uses were granted'),
    }),
    'With what it was allowed, if nobody was asked',
  ),
  reported: optional(z.literal(true), 'The person denied it and did not expect it'),
  detail: approvalRecord.shape.detail,
})

export const pageRequests = operations({
  getOwnRequest: {
    route: 'GET /svc/v1/approver/requests/{request_id}',
    cookieAlone: true,
    summary: 'Show what became of a request to the signed-in person',
    message: 'Request',
    input: z.strictObject({ request_id }),
    data: z.extend(outcomeRecord, {
      number_missed: z.optional(numberMissed),
      progress,
    }),
  },
  listRequestRows: {
    route: 'GET /svc/v1/approver/requests/{request_id}/rows',
    cookieAlone: true,
    summary: 'Show some of the changes that a request to the signed-in person asks for together',
    message: 'Rows',
    input: z.strictObject({
      request_id,
      from: optional(z.int().check(z.gte(0, 'must be 0 or more')), 'Index of the first one'),
    }),
    data: z.looseObject({
      rows: chosen(z.array(z.looseObject({ data, summary, fields })), 'The changes, in order'),
      left: chosen(z.int(), 'How many follow'),
    }),
  },
  beginReport: {
    route: 'POST /svc/v1/approver/requests/{request_id}/report/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for reporting a request that the person has denied',
    input: z.strictObject({ request_id }),
  },
  reportRequest: {
    route: 'POST /svc/v1/approver/requests/{request_id}/report',
    summary:
      'Report a denied request as unexpected: mutes its requester for this person and ends its other requests to them',
    message: 'Reported',
    input: z.strictObject({ request_id, ...signedChallenge }),
    data: z.looseObject({ mute_id: chosen(z.string(), 'Id of the mute') }),
  },
  beginDenials: {
    route: 'POST /svc/v1/approver/denials/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for denying exactly these requests',
    input: z.strictObject({ request_ids }),
  },
  denyRequests: {
    route: 'POST /svc/v1/approver/denials',
    summary: 'Deny several requests with one signature of the device; they have no receipt',
    message: 'Denied',
    input: z.strictObject({ request_ids, ...signedChallenge }),
    data: z.looseObject({
      denied: chosen(
        z.array(z.string()),
        'Requests that this device denied with this call or an earlier one of its kind; the others had ended before',
      ),
    }),
  },
})
