import { retryAfterMs } from '../../client/retry.ts'
import { createTransport } from '../../client/undici-transport.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Env } from '../../core/env.ts'
import { atPointer } from '../config/json-pointer.ts'
import type { SmsSettings } from '../config/sms-settings.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { nameOf } from './attempt.ts'

/** Replaced in one pass: what a text holds is never looked at again. */
const filled = (template: unknown, values: Record<string, string>): unknown => {
  if (typeof template === 'string')
    return template.replace(/\{(to|text|id|secret)\}/g, (_, word: string) => values[word] ?? '')
  if (Array.isArray(template)) return template.map((one) => filled(one, values))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, one]) => [name, filled(one, values)]))
}

const mostCharacters = 200

/** The provider's id in an answer in JSON; undefined where there is nothing like it. */
const idIn = (body: string, pointer: string | undefined): string | undefined => {
  if (pointer === undefined) return undefined
  try {
    const found = atPointer(JSON.parse(body), pointer)
    const isId = typeof found === 'string' || typeof found === 'number'
    return isId ? safeLine(String(found)).slice(0, mostCharacters) : undefined
  } catch {
    return undefined
  }
}

const isTaken = (status: number): boolean => status >= 200 && status < 300

/** 401 and a redirect are mended in the configuration, 408 to 429 and 5xx pass; what else is refused stays refused. */
const mayPass = (status: number): boolean =>
  status < 400 || status >= 500 || [401, 407, 408, 409, 425, 429].includes(status)

/** Text messages by a provider that takes JSON over HTTP. Follows no redirect. */
export const createSms = (
  settings: SmsSettings,
  { env, now }: { env: Env; now(): string },
): { adapter: Adapter; close(): Promise<void> } => {
  const timeoutMs = { connect: 10_000, headers: 30_000, body: 10_000 }
  const send = createTransport({ env, timeoutMs, connections: 8 })
  const { url, method, secret = '' } = settings

  const adapter: Adapter = async ({ to, text }, { id, signal }): Promise<Outcome> => {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(filled(settings.headers, { secret }) as Record<string, string>),
      'idempotency-key': id,
    }
    const body = JSON.stringify(filled(settings.body, { to, text, id, secret }))
    let taken = false
    const onStatus = (status: number): void => void (taken = isTaken(status))
    try {
      const answer = await send({ method, url, headers, body, onStatus }, signal)
      const { status } = answer
      if (isTaken(status)) return { state: 'sent', provider_id: idIn(answer.body, settings.id) }
      const error = `the SMS provider answered ${status}`
      if (!mayPass(status)) return { state: 'failed', error }
      const after_ms = retryAfterMs(answer.headers['retry-after'], new Date(now()))
      return { state: 'retry', error, ...(after_ms !== undefined && { after_ms }) }
    } catch (error) {
      // It said yes, in words that cannot be read: it would send a second one too.
      if (taken) return { state: 'sent' }
      const code = error instanceof SvcError ? error.code.replaceAll('_', ' ') : nameOf(error)
      return { state: 'retry', error: `could not reach the SMS provider: ${code}` }
    }
  }
  return { adapter, close: send.close }
}
