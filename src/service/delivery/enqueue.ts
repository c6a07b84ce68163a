import { randomToken } from '../../core/ids.ts'
import type { Keyring } from '../call/keyring.ts'
import { type Message, notConfigured } from '../call/message.ts'
import type { Accept, Moment, Service } from '../call/service.ts'
import { checkCountry } from '../limits/sms.ts'

const shownEnd = 4

/** So much of an address as tells people apart: `a•••@example.com`, `••••••••0101`, `device 5`. */
const shownOf = ({ channel, to }: Message): string => {
  if (channel === 'push') return `device ${to}`
  if (channel === 'sms') return to.slice(-shownEnd).padStart(to.length, '•')
  const at = to.lastIndexOf('@')
  return `${to.slice(0, 1)}•••${to.slice(at)}`
}

export const contextOf = (message_id: string) => `outbox:${message_id}` as const

/** Keeps a message for the outbox, in the transaction that accepts it; answers its id. */
export const enqueue = async (
  { db, now, keyring }: Moment & { keyring: Pick<Keyring, 'wrap'> },
  message: Message,
): Promise<string> => {
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

type Options = Pick<Service, 'channels' | 'claim'> & { keyring: Pick<Keyring, 'wrap'> }

/** Accepts messages of channels that have an adapter, to countries that the operator allows, within the quota. */
export const createAccept =
  ({ channels, claim, keyring }: Options): Accept =>
  async (moment, message) => {
    if (!channels.has(message.channel)) throw notConfigured(message.channel)
    await checkCountry(moment.db, message)
    const message_id = await enqueue({ ...moment, keyring }, message)
    if (message.channel === 'sms') await claim(moment, message.org_id, 'sms_per_day')
    return message_id
  }
