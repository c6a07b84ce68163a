import type { messageKinds } from '../../contract/outbox.ts'
import type { deliveryChannels } from '../../contract/records.ts'
import { Refusal } from '../../core/refusal.ts'

export type Channel = (typeof deliveryChannels)[number]

/** The subject of a message, as the outbox shows it. */
export type MessageKind = (typeof messageKinds)[number]

/** A message for the outbox. Everything but channel and kind is stored encrypted, and erased after it is sent. */
export type Message = {
  /** The organization that sends it; 0 is the service itself. */
  org_id: number
  channel: Channel
  kind: MessageKind
  /** E-mail address, mobile number (E.164), the id of a device, or of a webhook. */
  to: string
  /** For e-mail only. */
  subject?: string
  reply_to?: string
  text: string
  /** When it is no longer worth sending. */
  expires_at?: string
  /** It registers a phone. */
  registers?: boolean
}

const setupHints: Record<Channel, string> = {
  email: 'svc serve --config FILE with an smtp section, or SVC_SMTP_URL',
  sms: 'svc serve --config FILE with an sms section, or SVC_SMS_URL',
  push: 'a phone allows notifications at the approver page',
  webhook: 'svc webhook create',
}

/** 409 `delivery_not_configured`, with what to set up. */
export const notConfigured = (channel: Channel): Refusal =>
  new Refusal(409, 'delivery_not_configured', `This service cannot send by ${channel}`, {
    hint: `Start it with ${setupHints[channel]}; with --dev, the log shows all messages instead`,
  })
