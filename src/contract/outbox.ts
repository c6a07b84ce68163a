import * as z from 'zod/mini'
import { chosen, line, nullable, optional, whole } from './field.ts'
import { operations } from './declaration.ts'
import { deliveryChannels, messageChannels, time, timeline } from './records.ts'

// The outbox of messages, and a test of each channel, under /svc/v1. spec: not shown

export const messageKinds = [
  'otp',
  'alert',
  'notice',
  'approval',
  'auth_request',
  'email_verification',
  'enrollment',
  'device',
  'report',
  'group',
  'emergency',
  'grant',
  'support',
  'event',
  'test',
] as const
export const messageStates = ['queued', 'sending', 'sent', 'failed', 'dead'] as const

const channel = z.enum(deliveryChannels)
const kind = z.enum(messageKinds)
const state = z.enum(messageStates)
const message_id = chosen(line(64), 'Message id', { example: 'msg_9fT2kQpX' })

export const messageRecord = z.looseObject({
  message_id,
  org_id: chosen(z.int(), 'Organization id; 0 is the service itself'),
  channel: chosen(channel, 'Channel'),
  kind: chosen(kind, 'Kind of message'),
  recipient: chosen(
    z.string(),
    'Recipient, shortened; the full address is encrypted and erased when the message is finished',
  ),
  state: chosen(
    state,
    'queued, sending; sent: the provider accepted it; failed: the provider refused it; dead: given up',
  ),
  attempts: chosen(z.int(), 'Number of attempts'),
  error: nullable(z.string(), 'Error of the last attempt'),
  provider_id: nullable(z.string(), 'Id at the provider'),
  next_at: nullable(time, 'Time of the next attempt; null if there is none'),
  expires_at: nullable(time, 'When it expires and is no longer sent'),
  retryable: chosen(z.boolean(), 'Whether it can be sent again: its text is still stored'),
  created_at: chosen(time, 'When it was accepted'),
  updated_at: chosen(time, 'When it was last changed'),
})
export type MessageRecord = z.infer<typeof messageRecord>

export const outbox = operations({
  listOutbox: {
    route: 'GET /svc/v1/outbox',
    cli: 'notify outbox list',
    scope: 'notify',
    summary: 'List messages and their delivery status, newest first',
    message: 'Outbox',
    example: '--state dead',
    input: z.strictObject({
      org_id: optional(whole(0), 'Only messages of this organization; 0 is the service itself', {
        example: 1,
      }),
      state: optional(state, 'Only messages in this state'),
      channel: optional(channel, 'Only messages of this channel'),
      kind: optional(kind, 'Only messages of this kind'),
      ...timeline,
    }),
    data: z.array(messageRecord),
    columns: ['message_id', 'created_at', 'channel', 'kind', 'recipient', 'state', 'attempts', 'error'],
    wide: ['attempts', 'kind', 'created_at', 'recipient'],
  },
  listChannels: {
    route: 'GET /svc/v1/delivery',
    cli: 'notify channels',
    scope: ['read', 'notify'],
    summary: 'List the delivery channels and their status',
    message: 'Channels',
    data: z.array(
      z.looseObject({
        channel: chosen(channel, 'Channel'),
        ready: chosen(z.boolean(), 'Whether it accepts messages'),
        only_logged: chosen(z.boolean(), 'Whether its messages only go to the log of the service (--dev)'),
        waiting: chosen(z.int(), 'Number of messages that wait for their next attempt'),
        given_up: chosen(z.int(), 'Number of messages of the last day that failed or were given up'),
      }),
    ),
  },
  getMessage: {
    route: 'GET /svc/v1/outbox/{message_id}',
    cli: 'notify outbox show',
    scope: 'notify',
    cacheable: true,
    summary: 'Show a message and its delivery status',
    message: 'Message',
    example: 'msg_9fT2kQpX',
    input: z.strictObject({ message_id }),
    data: messageRecord,
  },
  retryMessage: {
    route: 'POST /svc/v1/outbox/{message_id}/retry',
    cli: 'notify outbox retry',
    effect: 'notifies',
    scope: 'notify',
    summary: 'Retry a message that failed or is waiting for its next attempt',
    message: 'Message queued',
    example: 'msg_9fT2kQpX',
    input: z.strictObject({ message_id }),
    data: messageRecord,
  },
  testDelivery: {
    route: 'POST /svc/v1/delivery/test',
    cli: 'notify test',
    effect: 'notifies',
    scope: 'notify',
    operator: true,
    summary: 'Send a test message through a channel',
    message: 'Test message accepted',
    example: '--channel email --to ada@example.com',
    input: z.strictObject({
      channel: chosen(z.enum(messageChannels), 'Channel', { example: 'email' }),
      to: chosen(line(254), 'E-mail address, mobile number (E.164), or the id of a device for push', {
        example: 'ada@example.com',
        personal: true,
      }),
    }),
    data: messageRecord,
  },
})
