import * as z from 'zod/mini'
import { chainOrg, eventFilter } from './event.ts'
import { chosen, line, nullable, optional, seconds, whole } from './field.ts'
import { operations } from './declaration.ts'
import { moment, time, times } from './records.ts'

// Webhooks, to which events are sent, under /svc/v1. spec: not shown

const webhook_id = chosen(line(64), 'Webhook id', { example: 'wh_9fT2kQpX' })

export const webhookStates = ['active', 'failing', 'stopped'] as const

const format = z.enum(['json', 'slack', 'teams', 'text'])
export type WebhookFormat = z.infer<typeof format>

/** What a webhook may be given to read. */
const scopes = z.array(z.enum(['read']))

export const webhookRecord = z.looseObject({
  webhook_id: chosen(z.string(), 'Webhook id'),
  org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
  url: chosen(z.string(), 'Address of the receiver'),
  format: chosen(format, 'json: events; slack, teams, text: messages for people'),
  scopes: chosen(scopes, 'read: it also gets what a request says, and which rules ask'),
  types: chosen(z.array(z.string()), 'Types and groups of events that it gets; none: all'),
  state: chosen(
    z.enum(webhookStates),
    'failing: the last attempt failed; stopped: given up after three days of failures, or the receiver answered 410',
  ),
  failing_since: nullable(time, 'When the first attempt failed after the last delivery'),
  error: nullable(z.string(), 'Error of the last attempt'),
  waiting: chosen(z.int(), 'Events that are being sent or wait for their next attempt'),
  given_up: chosen(z.int(), 'Events that were not delivered within three days, of the last 30 days'),
  secrets: chosen(z.int(), 'Number of secrets that sign: two while a rotation overlaps'),
  ...times,
})
export type WebhookRecord = z.infer<typeof webhookRecord>

const withSecret = z.extend(webhookRecord, {
  secret: chosen(z.string(), 'Secret that signs the events, shown once', { secret: true }),
})

const types = z.array(eventFilter).check(z.maxLength(40, 'must have at most 40 entries'))

export const webhook = operations({
  createWebhook: {
    route: 'POST /svc/v1/webhooks',
    cli: 'webhook create',
    args: ['url'],
    scope: 'keys',
    summary: 'Send events to an address; the secret that signs them is shown once',
    message: 'Webhook created',
    example: 'https://hooks.example.com/svc --org acme --type approval,key',
    input: z.strictObject({
      url: chosen(line(500), 'Address of the receiver, https', { example: 'https://hooks.example.com/svc' }),
      org_id: chainOrg,
      types: optional(types, 'Types or groups of events; default: all', {
        example: ['approval', 'key'],
        flag: 'type',
      }),
      format: optional(
        format,
        'json: events; slack, teams, text: messages for people, with a link to the page; default: json',
        { example: 'slack' },
      ),
      scopes: optional(
        scopes.check(z.maxLength(1, 'must have at most 1 entry')),
        'read: also send what a request says, and which rules ask; your key must have that scope',
        { example: ['read'], flag: 'can' },
      ),
    }),
    data: withSecret,
  },
  listWebhooks: {
    route: 'GET /svc/v1/webhooks',
    cli: 'webhook list',
    scope: 'keys',
    summary: 'List webhooks and whether their events arrive',
    message: 'Webhooks',
    example: '--org acme',
    input: z.strictObject({
      org_id: optional(whole(0), 'Only webhooks of this organization; 0 is the service itself', {
        example: 1,
      }),
    }),
    data: z.array(webhookRecord),
    columns: [
      'webhook_id',
      'url',
      'format',
      'scopes',
      'types',
      'state',
      'waiting',
      'given_up',
      'failing_since',
      'error',
    ],
    wide: ['format', 'scopes', 'types', 'given_up', 'failing_since', 'waiting'],
  },
  rotateWebhook: {
    route: 'POST /svc/v1/webhooks/{webhook_id}/rotate',
    cli: 'webhook rotate',
    scope: 'keys',
    summary: 'Replace the secret of a webhook; the old one signs too until the overlap ends',
    message: 'Secret rotated',
    example: 'wh_9fT2kQpX --overlap 3600',
    input: z.strictObject({
      webhook_id,
      overlap_s: optional(
        seconds(0, 2_592_000, '2592000 (30 days)'),
        'How long the old secret signs too, in seconds; default: 86400',
        { example: 3600, flag: 'overlap' },
      ),
    }),
    data: withSecret,
  },
  replayWebhook: {
    route: 'POST /svc/v1/webhooks/{webhook_id}/replay',
    cli: 'webhook replay',
    scope: 'keys',
    summary: 'Send events again, under the same ids; starts a webhook that was stopped',
    message: 'Events are sent again',
    example: 'wh_9fT2kQpX --since 2h',
    input: z.strictObject({
      webhook_id,
      from: optional(moment, 'The first event to send again; default: since the webhook began to fail', {
        example: '2030-01-31T18:00:00Z',
        past: true,
        flag: 'since',
      }),
    }),
    data: webhookRecord,
  },
  deleteWebhook: {
    route: 'DELETE /svc/v1/webhooks/{webhook_id}',
    cli: 'webhook delete',
    scope: 'keys',
    summary: 'Delete a webhook; events that still wait are not sent',
    message: 'Webhook deleted',
    example: 'wh_9fT2kQpX --yes',
    input: z.strictObject({ webhook_id }),
  },
})
