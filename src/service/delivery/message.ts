import type { messageKinds } from '../../contract/outbox.ts'
import type { deliveryChannels } from '../../contract/records.ts'

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
