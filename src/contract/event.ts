import * as z from 'zod/mini'
import { chosen, formed, optional, seconds, whole } from './field.ts'
import { operations } from './declaration.ts'
import { moment, time } from './records.ts'

// Events: what happened, derived from the audit log, under /svc/v1. spec: not shown

/** What happened, by group: `approval.denied`. */
export const eventNames = {
  approval: ['requested', 'answered', 'approved', 'denied', 'expired', 'withdrawn', 'used'],
  device: ['link_created', 'registered', 'approved', 'activated', 'refused', 'revoked'],
  member: [
    'created',
    'updated',
    'requested',
    'accepted',
    'rejected',
    'held',
    'promoted',
    'removed',
    'deleted',
  ],
  key: ['created', 'rotated', 'confirmed', 'revoked', 'signing_key_rotated', 'master_key_rotated'],
  policy: ['updated'],
  webhook: ['created', 'rotated', 'replayed', 'stopped', 'deleted'],
  audit: ['head'],
} as const

type Names = typeof eventNames
export type EventGroup = keyof Names
export type EventType = { [G in EventGroup]: `${G}.${Names[G][number]}` }[EventGroup]

const groups = Object.keys(eventNames) as EventGroup[]
const types = groups.flatMap((group) => eventNames[group].map((name) => `${group}.${name}` as EventType))

/** A type, or a group for all of its types. */
export const eventFilters = [...groups, ...types] as const
export type EventFilter = EventGroup | EventType

export const eventFilter = z.enum(eventFilters as readonly [EventFilter, ...EventFilter[]])

/** Whether an event passes filters; without any, every event does. */
export const passes = (type: string, filters: readonly string[]): boolean =>
  filters.length === 0 || filters.some((filter) => type === filter || type.startsWith(`${filter}.`))

/** `evt_`, the organization, the row of its audit and the start of the hash of the row. */
export const eventId = formed(
  /^evt_\d{1,15}_\d{1,15}_[\da-f]{8}$/,
  'must be the id of an event, such as evt_1_42_9f3a12bc',
)

/** The signed statement of an event `audit.head`. */
const auditHead = z.looseObject({
  seq: chosen(z.int(), 'Rows in the chain'),
  hash: chosen(z.string(), 'Hash of the last row'),
  jws: chosen(z.string(), 'The head, signed with a key of /.well-known/jwks.json'),
})

const requested = z.looseObject({
  action: chosen(z.string(), 'What is requested'),
  rules: chosen(z.array(z.string()), 'Names of the rules that ask'),
})

export const event = z.looseObject({
  id: chosen(z.string(), 'Event id, the same at every delivery'),
  type: chosen(z.string(), 'What happened'),
  timestamp: chosen(time, 'When it happened'),
  data: chosen(
    z.looseObject({
      org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
      seq: chosen(z.int(), 'Row of the audit log'),
      hash: chosen(z.string(), 'Hash of that row'),
      action: chosen(z.string(), 'The operation'),
      subject: chosen(z.string(), 'What it is about: approval:apr_3mYk8wQZ, user:7'),
      actor: chosen(z.string(), 'Who did it: key:3, user:7, or the service'),
      changes: chosen(z.array(z.string()), 'Names of the fields that were set'),
      head: optional(auditHead, 'In audit.head: the signed head'),
      request: optional(requested, 'In events of a request, to a webhook with the scope read'),
    }),
    'Ids and names of fields; no values, unless the webhook has the scope read',
  ),
})
export type EventRecord = z.infer<typeof event>

/** The organization of a chain: 0 is the service itself. */
export const chainOrg = optional(
  whole(0),
  'Organization id; 0 is the service itself; a key of an organization uses its own',
  { example: 1 },
)

export const events = operations({
  listEvents: {
    route: 'GET /svc/v1/events',
    cli: 'events list',
    hidden: true,
    scope: 'read',
    summary: 'List events in their order, and wait for the next one',
    message: 'Events',
    example: '--org acme --type approval --wait 30',
    input: z.strictObject({
      org_id: chainOrg,
      type: optional(eventFilter, 'Only events of this type or group', { example: 'approval' }),
      after: optional(eventId, 'Only events after this one, an id or a cursor', {
        example: 'evt_1_42_9f3a12bc',
      }),
      from: optional(moment, 'Only events from this time on; default: from now on', {
        example: '2030-01-31T18:00:00Z',
        past: true,
        flag: 'since',
      }),
      limit: optional(whole(1, 1000), 'Number of events; default: 100', { example: 100 }),
      wait_s: optional(seconds(1, 60), 'Seconds to wait for an event if there is none', {
        example: 30,
        flag: 'wait',
      }),
    }),
    data: z.looseObject({
      events: chosen(z.array(event), 'The events, oldest first'),
      cursor: chosen(z.string(), 'Continue with it: the value of after in the next request'),
    }),
  },
})
