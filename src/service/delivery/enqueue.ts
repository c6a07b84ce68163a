import { smsCountries } from '../../contract/quotas.ts'
import { hiddenNumber } from '../../core/phone-parts.ts'
import { randomToken } from '../../core/ids.ts'
import { conflict } from '../../core/refusal.ts'
import { parsePhone } from '../call/input.ts'
import type { Keyring } from '../call/keyring.ts'
import { type Channel, type Message, notConfigured } from '../call/message.ts'
import type { Accept, Moment, Service } from '../call/service.ts'
import { readLimit } from '../limits/values.ts'
import type { Db } from '../storage/schema.ts'

/** Refuses a text message to a country that the operator of the service has not allowed. */
const checkCountry = async (db: Db, { org_id, channel, to }: Message): Promise<void> => {
  // Organization 0 is the service itself.
  if (channel !== 'sms' || org_id === 0) return
  const countries = await readLimit(db, org_id, 'sms_countries')
  const prefix = parsePhone(to).country_code
  const isGlobal = (smsCountries.global as readonly string[]).includes(prefix)
  if (countries.includes(prefix) || (countries.includes('all') && !isGlobal)) return
  throw conflict(
    'sms_country_not_allowed',
    `Text messages to ${prefix} are not allowed for this organization`,
    `Only the operator of the service can allow them: svc org limits set --org ${org_id} --sms-countries ${[...countries, prefix].join(',')}`,
    { quota: 'sms_countries', limit: countries },
  )
}

/** As much of an address as distinguishes people: `a•••@example.com`, `••••••••0101`, `device 5`. */
const masks: Record<Channel, (to: string) => string> = {
  email: (to) => `${to.slice(0, 1)}•••${to.slice(to.lastIndexOf('@'))}`,
  sms: hiddenNumber,
  push: (to) => `device ${to}`,
  webhook: (to) => to,
}

export const wrapContext = (message_id: string) => `outbox:${message_id}` as const

const queuedRow = (
  { now, keyring }: { now: string; keyring: Pick<Keyring, 'wrap'> },
  message: Message,
  message_id: string,
) => {
  const { org_id, channel, kind, expires_at } = message
  return {
    org_id,
    message_id,
    channel,
    kind,
    recipient: masks[channel](message.to),
    wrapped: keyring.wrap(JSON.stringify(message), wrapContext(message_id)),
    state: 'queued' as const,
    attempts: 0,
    next_at: now,
    expires_at: expires_at ?? null,
    created_at: now,
    updated_at: now,
  }
}

/** Stores messages under ids of the caller. One that is queued under its id stays; one that has ended is sent again. */
export const enqueueAs = async (
  { db, now, keyring }: Moment & { keyring: Pick<Keyring, 'wrap'> },
  messages: readonly { message_id: string; message: Message }[],
): Promise<void> => {
  if (messages.length === 0) return
  await db
    .insertInto('outbox')
    .values(messages.map(({ message_id, message }) => queuedRow({ now, keyring }, message, message_id)))
    .onConflict((on) =>
      on
        .column('message_id')
        .doUpdateSet(({ ref }) => ({
          wrapped: ref('excluded.wrapped'),
          state: 'queued',
          attempts: 0,
          next_at: now,
          expires_at: ref('excluded.expires_at'),
          error: null,
          updated_at: now,
        }))
        .where('outbox.state', 'not in', ['queued', 'sending']),
    )
    .execute()
}

/** Stores a message in the outbox, in the transaction that accepts it. Returns its id. */
export const enqueue = async (
  deps: Moment & { keyring: Pick<Keyring, 'wrap'> },
  message: Message,
): Promise<string> => {
  const message_id = `msg_${randomToken(18)}`
  await enqueueAs(deps, [{ message_id, message }])
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
    if (message.channel === 'sms') await claim(moment, message.org_id, 'sms_per_day', 1, message.registers)
    return message_id
  }
