import type { Outcome } from './adapter.ts'
import type { AttemptResult, Claimed } from './rows.ts'

/** About three hours, on average. */
const usualAttempts = 15
const firstPauseMs = 2_000
const longestPauseMs = 60 * 60_000
/** Limits the time for which a provider can ask. */
const longestWaitMs = 24 * 60 * 60_000

/** A test message reports an error immediately. */
export const maxAttempts = (kind: string): number => (kind === 'test' ? 1 : usualAttempts)

/** Full jitter, so that messages that failed together are not sent again together. */
const pauseMs = (attempts: number, random: () => number): number =>
  random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1))

export const hasExpired = (expires_at: string | null, now: string): boolean =>
  expires_at !== null && expires_at <= now

/** The state of a message after an attempt. `now` is ISO. */
export const nextState = (
  { kind, attempts, expires_at }: Claimed,
  outcome: Outcome,
  now: string,
  random: () => number,
): AttemptResult => {
  if (outcome.state === 'sent')
    return { state: 'sent', provider_id: outcome.provider_id ?? null, wrapped: null, error: null }
  const { state, error } = outcome
  if (state === 'failed') return { state, error, wrapped: null }
  // The message stays for a while, so that an operator can fix the problem and send it again.
  if (attempts >= maxAttempts(kind))
    return { state: 'dead', error, ...(hasExpired(expires_at, now) && { wrapped: null }) }
  const at = Date.parse(now)
  const after_ms = Math.min(outcome.after_ms ?? 0, longestWaitMs)
  const left = expires_at === null ? Infinity : Date.parse(expires_at) - at
  if (after_ms >= left || left <= 0) return { state: 'dead', error, wrapped: null }
  const pause = Math.max(after_ms, Math.min(pauseMs(attempts, random), left))
  return { state: 'queued', error, next_at: new Date(at + Math.ceil(pause)).toISOString() }
}
