import type { Refusal } from '../../core/refusal.ts'

export type Envelope = { status: 'success' | 'error'; message: string; data?: unknown }

/** The request that is answered, and the headers that its rate limits add. */
export type Answered = { id: string; limits?: Record<string, string> | undefined }

// One literal, because it is many times faster to create and to send than an object built in steps, or a Headers.
const headersFor = ({ id, limits }: Answered) => ({
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': id,
  ...limits,
})

export const answerText = (
  status: number,
  text: string | Uint8Array | ReadableStream<Uint8Array>,
  request: Answered,
  headers?: Record<string, string>,
): Response => {
  const own = headersFor(request)
  return new Response(text, { status, headers: headers ? Object.assign(own, headers) : own })
}

export const answer = (
  status: number,
  body: unknown,
  request: Answered,
  headers?: Record<string, string>,
): Response => answerText(status, JSON.stringify(body), request, headers)

export const success = (message: string, data: unknown): Envelope =>
  data === undefined ? { status: 'success', message } : { status: 'success', message, data }

export const refused = (refusal: Refusal): Envelope => {
  const { code, hint, issues, message, data } = refusal
  return {
    status: 'error',
    message,
    data: { code, ...(hint && { hint }), ...(issues && { issues }), ...data },
  }
}

/** The log shows the cause under the same request id. */
export const internalError: Envelope = {
  status: 'error',
  message: 'Something went wrong inside the service',
  data: { code: 'internal_error', hint: 'Look for the request id (x-request-id) in the log of the service' },
}
