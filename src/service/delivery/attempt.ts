import { safeLine } from '../../core/safe-text.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Message } from '../call/message.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { wrapContext } from './enqueue.ts'
import type { Claimed } from './rows.ts'

/** The start of a text of a provider, safe to show. */
export const excerpt = (text: string): string => safeLine(text).slice(0, 200)

/** The code or the name of what was thrown. Its message could contain an address or more. */
export const nameOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'an error'
}

/** The message of a row; undefined if it is not what the service put there, and for its channel. */
const readMessage = (
  { wrapped, message_id, channel }: Claimed,
  { unwrap }: Pick<Keyring, 'unwrap'>,
): Message | undefined => {
  if (wrapped === null) return undefined
  try {
    const message = JSON.parse(unwrap(wrapped, wrapContext(message_id))) as Message
    return message.channel === channel ? message : undefined
  } catch {
    return undefined
  }
}

type Options = {
  adapter: Adapter
  keyring: Pick<Keyring, 'unwrap'>
  timeoutMs: number
  /** Aborted when the service stops. */
  stopping: AbortSignal
  /** Receives the outcome of an adapter that answers after its time. */
  onLate(outcome: Outcome): void
}

/** Tries once to send a message. Never throws, and never takes longer than its time, whatever the adapter does. */
export const attemptToSend = async (row: Claimed, options: Options): Promise<Outcome> => {
  const { adapter, keyring, timeoutMs, stopping, onLate } = options
  const message = readMessage(row, keyring)
  if (!message) return { state: 'failed', error: 'this master key cannot decrypt it' }
  const controller = new AbortController()
  const stop = (): void => controller.abort()
  const timer = setTimeout(stop, timeoutMs)
  stopping.addEventListener('abort', stop, { once: true })
  const aborted = new Promise<undefined>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  if (stopping.aborted) stop()
  const attempt = { id: row.message_id, attempt: row.attempts, signal: controller.signal }
  const sending = Promise.resolve()
    .then(() => adapter(message, attempt))
    .catch((error: unknown): Outcome => ({ state: 'retry', error: nameOf(error) }))
  try {
    const outcome = await Promise.race([sending, aborted])
    if (outcome?.state === 'sent') return outcome
    if (outcome && !controller.signal.aborted) return { ...outcome, error: excerpt(outcome.error) }
    void sending.then(onLate)
    return {
      state: 'retry',
      error: stopping.aborted ? 'the service stopped' : `no answer within ${timeoutMs / 1000} s`,
    }
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', stop)
  }
}
