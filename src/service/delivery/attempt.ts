import { safeLine } from '../../core/safe-text.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Message } from '../call/message.ts'
import type { Adapter, Outcome } from './adapter.ts'
import { contextOf } from './enqueue.ts'
import type { Claimed } from './rows.ts'

const mostCharacters = 200

const short = (text: string): string => safeLine(text).slice(0, mostCharacters)

/** The code or the name of what was thrown: its message can hold an address or more. */
export const nameOf = (error: unknown): string => {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'an error'
}

const opened = (
  { wrapped, message_id }: Claimed,
  { unwrap }: Pick<Keyring, 'unwrap'>,
): Message | undefined => {
  try {
    return wrapped === null ? undefined : (JSON.parse(unwrap(wrapped, contextOf(message_id))) as Message)
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
  /** An adapter that was given up has sent it after all. */
  late(outcome: Outcome): void
}

/** One attempt to send a message; never fails, and never takes longer than its time, whatever the adapter does. */
export const attemptToSend = async (row: Claimed, options: Options): Promise<Outcome> => {
  const { adapter, keyring, timeoutMs, stopping, late } = options
  const message = opened(row, keyring)
  if (!message) return { state: 'failed', error: 'this master key cannot decrypt it' }
  const giving = new AbortController()
  const stop = (): void => giving.abort()
  const timer = setTimeout(stop, timeoutMs)
  stopping.addEventListener('abort', stop, { once: true })
  const over = new Promise<undefined>((resolve) => {
    giving.signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  if (stopping.aborted) stop()
  const attempt = { id: row.message_id, attempt: row.attempts, signal: giving.signal }
  const sending = Promise.resolve()
    .then(() => adapter(message, attempt))
    .catch((error: unknown): Outcome => ({ state: 'retry', error: nameOf(error) }))
  try {
    const outcome = await Promise.race([sending, over])
    if (outcome?.state === 'sent') return outcome
    if (outcome && !giving.signal.aborted) return { ...outcome, error: short(outcome.error) }
    void sending.then(late)
    return {
      state: 'retry',
      error: stopping.aborted ? 'the service stopped' : `no answer within ${timeoutMs / 1000} s`,
    }
  } finally {
    clearTimeout(timer)
    stopping.removeEventListener('abort', stop)
  }
}
