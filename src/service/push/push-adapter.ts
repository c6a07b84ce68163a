import { retryAfterMs } from '../../client/retry.ts'
import { pushedRequestId } from '../approvals/push.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Message } from '../call/message.ts'
import type { Adapter, Outcome } from '../delivery/adapter.ts'
import { nameOf } from '../delivery/attempt.ts'
import { activeDevices } from '../devices/active.ts'
import type { Storage } from '../storage/storage.ts'
import { createSender } from './sender.ts'
import { openSubscription } from './subscription.ts'
import type { Vapid } from './vapid.ts'

type Options = {
  storage: Storage
  keyring: Pick<Keyring, 'unwrap'>
  vapid: Vapid
  publicUrl: string
  dev: boolean
}

/** How long a push service keeps a message without an end for a phone that is away, seconds. */
const usualTtl = 24 * 60 * 60

const passing = new Set([408, 425, 429])

/**
 * What is told about devices goes to revoked ones too, also of members who left: their owner may still hold them, and can
 * refuse a new one.
 */
const isAboutDevices = ({ kind }: Pick<Message, 'kind'>): boolean => kind === 'device'

/** Messages to phones by Web Push; `to` is the id of a device. */
export const createPushAdapter = ({ storage, keyring, vapid, publicUrl, dev }: Options): Adapter => {
  const send = createSender(vapid, { publicUrl, dev })

  /** Where the device gets its notifications, if it still may and there is still something to tell. */
  const targetOf = (message: Message, device: number, now: string) => {
    const request = pushedRequestId(message)
    return storage.read((db) =>
      (isAboutDevices(message) ? db.selectFrom('devices as d') : activeDevices(db, dev))
        .innerJoin('push_subscriptions as p', 'p.device_id', 'd.id')
        .where('d.id', '=', device)
        .where('d.org_id', '=', message.org_id)
        .$if(request !== undefined, (query) =>
          query.where(({ exists, selectFrom }) =>
            exists(
              selectFrom('approvals as a')
                .select('a.id')
                .whereRef('a.org_id', '=', 'd.org_id')
                .whereRef('a.user_id', '=', 'd.user_id')
                .where('a.request_id', '=', request!)
                .where('a.status', '=', 'pending')
                .where('a.expires_at', '>', now),
            ),
          ),
        )
        .select('p.wrapped')
        .executeTakeFirst(),
    )
  }

  /** Unless the page has said another since. */
  const drop = (device: number, wrapped: string, org: number) =>
    storage.write(
      (db) =>
        db
          .deleteFrom('push_subscriptions')
          .where('device_id', '=', device)
          .where('wrapped', '=', wrapped)
          .execute(),
      { org },
    )

  return async (message, { id, signal }): Promise<Outcome> => {
    const device = Number(message.to)
    const at = storage.now()
    const target = await targetOf(message, device, at)
    if (!target) return { state: 'failed', error: 'the request has ended, or the device was removed' }
    const { expires_at } = message
    try {
      const { status, retryAfter } = await send({
        subscription: openSubscription(keyring, device, target.wrapped),
        payload: message.text,
        ttl: expires_at === undefined ? usualTtl : Math.max(0, secondsTo(expires_at, at)),
        topic: id,
        at,
        signal,
      })
      if (status >= 200 && status < 300) return { state: 'sent' }
      const error = `its push service answered ${status}`
      if (status === 404 || status === 410) await drop(device, target.wrapped, message.org_id)
      else if (status >= 500 || passing.has(status))
        return { state: 'retry', error, after_ms: retryAfterMs(retryAfter, new Date(at)) }
      return { state: 'failed', error }
    } catch (error) {
      // The code alone: the message can hold the address, which is a secret of the phone.
      return { state: 'retry', error: nameOf(error) }
    }
  }
}

const secondsTo = (time: string, from: string): number =>
  Math.ceil((Date.parse(time) - Date.parse(from)) / 1000)
