import { retryAfterMs } from '../../client/retry.ts'
import { createTransport } from '../../client/undici-transport.ts'
import { SvcError } from '../../core/errors.ts'
import type { Env } from '../../core/env.ts'
import type { SmsSettings } from '../config/sms-settings.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { nameOf } from './attempt.ts'

/** Fills a template in one pass, so that a placeholder inside of a value stays as it is. */
const fill = (template: unknown, values: Record<string, string>): unknown => {
  if (typeof template === 'string')
    return template.replace(/\{(to|text|id|secret)\}/g, (_, word: string) => values[word] ?? '')
  if (Array.isArray(template)) return template.map((one) => fill(one, values))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, one]) => [name, fill(one, values)]))
}

const isAccepted = (status: number): boolean => status >= 200 && status < 300

/** 401 and a redirect can be fixed in the configuration, 408 to 429 and 5xx can pass. Other refusals are final. */
const isTemporary = (status: number): boolean =>
  status < 400 || status >= 500 || [401, 407, 408, 409, 425, 429].includes(status)

/** Sends text messages by a provider with a JSON API. Follows no redirect. */
export const createSms = (
  settings: SmsSettings,
  { env, now }: { env: Env; now(): string },
): { adapter: Adapter; close(): Promise<void> } => {
  const timeoutMs = { connect: 10_000, headers: 30_000, body: 10_000 }
  const send = createTransport({ env, timeoutMs, connections: 8 })
  const { url, secret = '' } = settings

  const adapter: Adapter = async ({ to, text }, { id, signal }): Promise<Outcome> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(fill(settings.headers, { secret }) as Record<string, string>),
      'idempotency-key': id,
    }
    const body = JSON.stringify(fill(settings.body, { to, text, id, secret }))
    let accepted = false
    const onStatus = (status: number): void => void (accepted = isAccepted(status))
    try {
      const answer = await send({ method: 'POST', url, headers, body, onStatus }, signal)
      const { status } = answer
      if (isAccepted(status)) return { state: 'sent' }
      const error = `the SMS provider answered ${status}`
      if (!isTemporary(status)) return { state: 'failed', error }
      const after_ms = retryAfterMs(answer.headers['retry-after'], new Date(now()))
      return { state: 'retry', error, ...(after_ms !== undefined && { after_ms }) }
    } catch (error) {
      // The provider accepted it, in an answer that cannot be read. Another attempt would send it twice.
      if (accepted) return { state: 'sent' }
      const code = error instanceof SvcError ? error.code.replaceAll('_', ' ') : nameOf(error)
      return { state: 'retry', error: `could not reach the SMS provider: ${code}` }
    }
  }
  return { adapter, close: send.close }
}
