import type { Refusal } from '../../core/refusal.ts'

export type Envelope = { status: 'success' | 'error'; message: string; data?: unknown }

// One literal, because it is many times faster to create and to send than an object built in steps.
const headersFor = (requestId: string) => ({
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
})

export const answerText = (
  status: number,
  text: string | ReadableStream<Uint8Array>,
  requestId: string,
  headers?: Record<string, string>,
): Response => {
  const own = headersFor(requestId)
  return new Response(text, { status, headers: headers ? Object.assign(own, headers) : own })
}

export const answer = (
  status: number,
  body: unknown,
  requestId: string,
  headers?: Record<string, string>,
): Response => answerText(status, JSON.stringify(body), requestId, headers)

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
