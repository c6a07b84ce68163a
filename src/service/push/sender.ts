import { createECDH } from 'node:crypto'
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { encrypt } from 'http_ece'
import { publicLookup, refuseTarget, type Subscription } from './subscription.ts'
import type { Vapid } from './vapid.ts'

export type Push = {
  subscription: Subscription
  payload: string
  /** How long a push service keeps it for a phone that is away, seconds. */
  ttl: number
  /** What tells a repeat: of two with the same one, a phone that is away gets the later one. */
  topic: string
  /** Now, ISO. */
  at: string
  signal: AbortSignal
}

const timeoutMs = 10_000

export type PushAnswer = { status: number; retryAfter?: string | undefined }

/** Only the subscribed browser can read it (RFC 8291). */
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

/** Sends one push and answers what its push service said; follows no redirect. Fails when nobody answers in time. */
export const createSender =
  (vapid: Vapid, { publicUrl, dev }: { publicUrl: string; dev: boolean }) =>
  async ({ subscription, payload, ttl, topic, at, signal }: Push): Promise<PushAnswer> => {
    const { endpoint } = subscription
    refuseTarget(endpoint, dev)
    const url = new URL(endpoint)
    const body = seal(subscription, payload)
    const headers = {
      authorization: await vapid.authorize(endpoint, publicUrl, at),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      'content-length': body.length,
      ttl,
      topic,
      urgency: 'high',
    }
    const send = url.protocol === 'https:' ? requestTls : requestPlain
    return new Promise((resolve, reject) => {
      const sending = send(
        url,
        {
          method: 'POST',
          headers,
          agent: false,
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
          ...(!dev && { lookup: publicLookup }),
        },
        (response) => {
          resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] })
          // Nothing that it says matters.
          response.destroy()
        },
      )
      sending.on('error', reject)
      sending.end(body)
    })
  }
