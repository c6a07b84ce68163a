import { excerpt } from '../delivery/attempt.ts'
import { readStart, requestPublic } from '../delivery/public-request.ts'
import { type Secret, signedHeaders } from './signature.ts'

type Post = {
  url: string
  secrets: readonly Secret[]
  id: string
  body: string
  /** Now, ISO. */
  now: string
  dev: boolean
  signal?: AbortSignal
}

export type Posted = {
  status: number
  retryAfter?: string | undefined
  /** The start of the body, safe to show. */
  answer: string
}

const timeoutMs = 10_000
/** As much of a body as people are shown, and how long to wait for it. */
const answerBytes = 1_024
const answerMs = 1_000

/** Posts a signed event once. Throws without an answer. */
export const postEvent = async ({ url, secrets, dev, signal, ...event }: Post): Promise<Posted> => {
  const body = Buffer.from(event.body)
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await requestPublic({
    url,
    field: 'url',
    dev,
    headers: {
      'content-type': 'application/json',
      'content-length': body.length,
      'user-agent': 'svc-webhooks/1',
      ...signedHeaders(secrets, event),
    },
    body,
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  })
  const { statusCode = 0, headers } = response
  const bytes = await readStart(response, answerBytes, answerMs)
  const answer = excerpt(bytes.toString('utf8'))
  return { status: statusCode, retryAfter: headers['retry-after'], answer }
}

/** Why there was no answer, without the address, which may contain a secret. */
export const whyUnanswered = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (code === 'private_address' || code === 'invalid_field') return 'its host is in a private network'
  if (code === 'ABORT_ERR' || name === 'AbortError' || name === 'TimeoutError')
    return 'it did not answer in time'
  return typeof code === 'string' ? `it could not be reached: ${code}` : 'it could not be reached'
}
