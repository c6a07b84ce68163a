import { encrypt } from 'http_ece'
import { createECDH } from 'node:crypto'
import { retryAfterMs } from '../../../client/retry.ts'
import { pushedRequestId } from '../../approvals/push.ts'
import type { Message } from '../../call/message.ts'
import type { Service } from '../../call/service.ts'
import type { Adapter, Outcome } from '../../delivery/adapter.ts'
import { nameOf } from '../../delivery/attempt.ts'
import { requestPublic } from '../../delivery/public-request.ts'
import { activeDevices } from '../../devices/active.ts'
import { dropPushTarget, type PushTarget, readPushTargets } from '../../devices/push-targets.ts'
import { openSubscription, type Subscription } from './subscription.ts'
import type { Vapid } from './vapid.ts'

const timeoutMs = 10_000

/** Encrypts a payload for the subscribed browser (RFC 8291). */
const seal = ({ keys }: Subscription, payload: string): Buffer => {
  const own = createECDH('prime256v1')
  own.generateKeys()
  return encrypt(Buffer.from(payload), {
    version: 'aes128gcm',
    dh: keys.p256dh,
    privateKey: own,
    authSecret: keys.auth,
  })
}

type Options = Pick<Service, 'storage' | 'keyring' | 'publicUrl' | 'dev'> & { vapid: Vapid }

/** How long a push service stores a message that does not expire, for a phone that is offline. */
const defaultTtlSeconds = 24 * 60 * 60

const temporary = new Set([408, 425, 429])

/** Sends messages to phones by Web Push; `to` is the id of a device. */
export const createPushAdapter = ({ storage, keyring, vapid, publicUrl, dev }: Options): Adapter => {
  /** The subscriptions of the device, if it may still be notified and the request is still pending. */
  const findTargets = (message: Message, device: number, now: string): Promise<PushTarget[]> => {
    const request = pushedRequestId(message)
    return storage.read(async (db) => {
      // News about devices goes to revoked devices too: their owner may still have them, and can refuse a new one.
      const found = await (message.kind === 'device' ? db.selectFrom('devices as d') : activeDevices(db, dev))
        .where('d.id', '=', device)
        .where('d.org_id', '=', message.org_id)
        .$if(request !== undefined, (query) =>
          query.where(({ exists, selectFrom }) =>
            exists(
              selectFrom('approvals as a')
                .innerJoin('ballots as b', 'b.request_id', 'a.request_id')
                .select('a.id')
                .whereRef('b.org_id', '=', 'd.org_id')
                .whereRef('b.user_id', '=', 'd.user_id')
                .where('b.status', '=', 'pending')
                .where('a.request_id', '=', request!)
                .where('a.status', '=', 'pending')
                .where('a.expires_at', '>', now),
            ),
          ),
        )
        .select('d.id')
        .executeTakeFirst()
      return found ? readPushTargets(db, device) : []
    })
  }

  /** Follows no redirect. A push service that does not answer in time is tried again. */
  const sendTo = async (
    target: PushTarget,
    { text, expires_at, org_id }: Message,
    at: string,
    { id: topic, signal }: { id: string; signal: AbortSignal },
  ): Promise<Outcome> => {
    try {
      const subscription = openSubscription(keyring, target)
      const { endpoint } = subscription
      const body = seal(subscription, text)
      const leftS =
        expires_at === undefined ? undefined : Math.ceil((Date.parse(expires_at) - Date.parse(at)) / 1000)
      const response = await requestPublic({
        url: endpoint,
        field: 'endpoint',
        dev,
        headers: {
          authorization: await vapid.authorize(endpoint, publicUrl, at),
          'content-encoding': 'aes128gcm',
          'content-type': 'application/octet-stream',
          'content-length': body.length,
          // How long the push service stores it for a phone that is offline, which gets the latest message of a topic.
          ttl: leftS === undefined ? defaultTtlSeconds : Math.max(0, leftS),
          topic,
          urgency: 'high',
        },
        body,
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      // The body is not needed.
      response.destroy()
      const status = response.statusCode ?? 0
      if (status >= 200 && status < 300) return { state: 'sent' }
      const error = `its push service answered ${status}`
      if (status === 404 || status === 410)
        await storage.write((db) => dropPushTarget(db, target), { org: org_id })
      else if (status >= 500 || temporary.has(status))
        return {
          state: 'retry',
          error,
          after_ms: retryAfterMs(response.headers['retry-after'], new Date(at)),
        }
      return { state: 'failed', error }
    } catch (error) {
      // Only the code: the message can contain the endpoint, which is a secret of the phone.
      return { state: 'retry', error: nameOf(error) }
    }
  }

  /** A phone that got the message twice shows one notification, so a retry goes to every phone again. */
  return async (message, how): Promise<Outcome> => {
    const at = storage.now()
    const targets = await findTargets(message, Number(message.to), at)
    const outcomes = await Promise.all(targets.map((target) => sendTo(target, message, at, how)))
    const worst =
      outcomes.find(({ state }) => state === 'retry') ?? outcomes.find(({ state }) => state === 'sent')
    return (
      worst ?? outcomes[0] ?? { state: 'failed', error: 'the request has ended, or the device was removed' }
    )
  }
}
