import { request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { excerpt } from '../delivery/attempt.ts'
import { checkPublicUrl, isOwnMachine, publicLookup } from '../delivery/public-address.ts'
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

/** Reads the start of a body, and ends the connection. A body may be endless, or slow. */
const readStart = (response: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const end = (): void => {
      clearTimeout(timer)
      response.destroy()
      resolve(excerpt(Buffer.concat(chunks).subarray(0, answerBytes).toString('utf8')))
    }
    const timer = setTimeout(end, answerMs)
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= answerBytes) end()
    })
    response.on('end', end).on('error', end).on('close', end)
  })

/** Posts a signed event once. Follows no redirect, connects to the address that it checked, and throws without an answer. */
export const postEvent = async ({ url: text, secrets, dev, signal, ...event }: Post): Promise<Posted> => {
  checkPublicUrl('url', text, dev)
  const url = new URL(text)
  const body = Buffer.from(event.body)
  const limit = AbortSignal.timeout(timeoutMs)
  const send = url.protocol === 'https:' ? requestTls : requestPlain
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send(
      url,
      {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': body.length,
          'user-agent': 'svc-webhooks/1',
          ...signedHeaders(secrets, event),
        },
        agent: false,
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
        ...(!isOwnMachine(url, dev) && { lookup: publicLookup }),
      },
      resolve,
    )
      .on('error', reject)
      .end(body)
  })
  const { statusCode = 0, headers } = response
  return { status: statusCode, retryAfter: headers['retry-after'], answer: await readStart(response) }
}

/** Why there was no answer, without the address, which may contain a secret. */
export const whyUnanswered = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  if (code === 'private_address' || code === 'invalid_field') return 'its host is in a private network'
  if (code === 'ABORT_ERR' || name === 'AbortError' || name === 'TimeoutError')
    return 'it did not answer in time'
  return typeof code === 'string' ? `it could not be reached: ${code}` : 'it could not be reached'
}
