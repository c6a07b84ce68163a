import { createECDH } from 'node:crypto'
import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { encrypt } from 'http_ece'
import { publicLookup, checkEndpoint, type Subscription } from './subscription.ts'
import type { Vapid } from './vapid.ts'

type Push = {
  subscription: Subscription
  payload: string
  /** How long the push service stores it for a phone that is offline, seconds. */
  ttl: number
  /** Of two messages with the same topic, a phone that is offline gets the later one. */
  topic: string
  /** Now, ISO. */
  at: string
  signal: AbortSignal
}

const timeoutMs = 10_000

type PushResponse = { status: number; retryAfter?: string | undefined }

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

/** Sends one push. Follows no redirect, and throws if the push service does not answer in time. */
export const createSender =
  (vapid: Vapid, { publicUrl, dev }: { publicUrl: string; dev: boolean }) =>
  async ({ subscription, payload, ttl, topic, at, signal }: Push): Promise<PushResponse> => {
    const { endpoint } = subscription
    checkEndpoint(endpoint, dev)
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
          // The body is not needed.
          response.destroy()
        },
      )
      sending.on('error', reject)
      sending.end(body)
    })
  }
