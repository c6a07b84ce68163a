import type { WebhookFormat } from '../../contract/webhook.ts'
import type { Networks } from '../delivery/public-address.ts'
import { requestPublic } from '../delivery/public-request.ts'
import type { Secret } from '../call/webhook-target.ts'
import { signedHeaders } from './signature.ts'

type Post = {
  url: string
  secrets: readonly Secret[]
  id: string
  body: string
  format: WebhookFormat
  /** Now, ISO. */
  now: string
  dev: boolean
  networks: Networks
  signal: AbortSignal
}

const timeoutMs = 10_000

/** Posts a signed event once. Throws without an answer. */
export const postEvent = async ({ url, secrets, format, dev, networks, signal, ...event }: Post) => {
  const body = Buffer.from(event.body)
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await requestPublic({
    url,
    field: 'url',
    dev,
    networks,
    headers: {
      'content-type': format === 'text' ? 'text/plain; charset=utf-8' : 'application/json',
      'content-length': body.length,
      'user-agent': 'svc-webhooks/1',
      ...signedHeaders(secrets, event),
    },
    body,
    signal: AbortSignal.any([signal, limit]),
  })
  const { statusCode = 0, headers } = response
  response.destroy()
  return { status: statusCode, retryAfter: headers['retry-after'] }
}

/** Why there was no answer, without the address, which may contain a secret. */
export const whyUnanswered = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (code === 'private_address' || code === 'invalid_field') return 'its host is in a private network'
  if (code === 'ABORT_ERR' || name === 'AbortError' || name === 'TimeoutError')
    return 'it did not answer in time'
  return typeof code === 'string' ? `it could not be reached: ${code}` : 'it could not be reached'
}
