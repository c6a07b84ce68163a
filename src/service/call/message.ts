import type { messageKinds } from '../../contract/outbox.ts'
import type { deliveryChannels } from '../../contract/records.ts'
import { Refusal } from '../../core/refusal.ts'

export type Channel = (typeof deliveryChannels)[number]

/** What a message is about, as the outbox shows it. */
export type Kind = (typeof messageKinds)[number]

/** A message that somebody is to get. All of it but channel and kind is kept encrypted, and erased once it is sent. */
export type Message = {
  /** The organization that it is sent for; 0 is the service itself. */
  org_id: number
  channel: Channel
  kind: Kind
  /** E-mail address, mobile number (E.164), or the id of a device. */
  to: string
  /** Of an e-mail. */
  subject?: string
  /** Where an e-mail is answered to. */
  reply_to?: string
  text: string
  /** From when on it is not worth sending. */
  expires_at?: string
}

const setUp: Record<Channel, string> = {
  email: 'svc serve --config FILE with an smtp section, or SVC_SMTP_URL',
  sms: 'svc serve --config FILE with an sms section, or SVC_SMS_URL',
  push: 'a phone allows notifications at the approver page',
}

/** 409 `delivery_not_configured`, with what to set up. */
export const notConfigured = (channel: Channel): Refusal =>
  new Refusal(409, 'delivery_not_configured', `This service cannot send by ${channel}`, {
    hint: `Start it with ${setUp[channel]}; with --dev everything is shown in its log instead`,
  })
