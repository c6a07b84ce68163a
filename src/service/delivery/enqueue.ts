import { randomToken } from '../../core/ids.ts'
import type { Keyring } from '../custody/keyring.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import type { Channel, Message } from './message.ts'

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

const shownEnd = 4

/** So much of an address as tells people apart: `a•••@example.com`, `••••••••0101`, `device 5`. */
const shownOf = ({ channel, to }: Message): string => {
  if (channel === 'push') return `device ${to}`
  if (channel === 'sms') return to.slice(-shownEnd).padStart(to.length, '•')
  const at = to.lastIndexOf('@')
  return `${to.slice(0, 1)}•••${to.slice(at)}`
}

export const contextOf = (message_id: string) => `outbox:${message_id}` as const

type Reach = { db: Db; now: string; keyring: Pick<Keyring, 'wrap'> }

/** Keeps a message for the outbox, in the transaction that accepts it; answers its id. */
export const enqueue = async ({ db, now, keyring }: Reach, message: Message): Promise<string> => {
  const message_id = `msg_${randomToken(18)}`
  const { org_id, channel, kind, expires_at } = message
  await db
    .insertInto('outbox')
    .values({
      org_id,
      message_id,
      channel,
      kind,
      recipient: shownOf(message),
      wrapped: keyring.wrap(JSON.stringify(message), contextOf(message_id)),
      state: 'queued',
      attempts: 0,
      next_at: now,
      expires_at: expires_at ?? null,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return message_id
}
