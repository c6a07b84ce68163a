import type { Outcome } from './adapter.ts'
import type { Claimed, AttemptResult } from './rows.ts'

/** About three hours, on average. */
const mostAttempts = 15
const firstPauseMs = 2_000
const longestPauseMs = 60 * 60_000
/** Whatever a provider asks for. */
const longestWaitMs = 24 * 60 * 60_000

/** A test tells at once what is wrong. */
export const attemptsOf = (kind: string): number => (kind === 'test' ? 1 : mostAttempts)

/** Full jitter: those that failed together do not come back together. */
const pauseMs = (attempts: number, random: () => number): number =>
  random() * Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1))

export const isOver = (expires_at: string | null, now: string): boolean =>
  expires_at !== null && expires_at <= now

/** What follows from an attempt. `now` is ISO. */
export const verdictOf = (
  { kind, attempts, expires_at }: Claimed,
  outcome: Outcome,
  now: string,
  random: () => number,
): AttemptResult => {
  if (outcome.state === 'sent') return { state: 'sent', provider_id: outcome.provider_id ?? null }
  const { state, error } = outcome
  if (state === 'failed') return { state: 'failed', error, keep: false }
  // Its message stays for a while, for who mends what was wrong and sends it again.
  if (attempts >= attemptsOf(kind)) return { state: 'dead', error, keep: !isOver(expires_at, now) }
  const at = Date.parse(now)
  const after_ms = Math.min(outcome.after_ms ?? 0, longestWaitMs)
  const left = expires_at === null ? Infinity : Date.parse(expires_at) - at
  if (after_ms >= left || left <= 0) return { state: 'dead', error, keep: false }
  const pause = Math.max(after_ms, Math.min(pauseMs(attempts, random), left))
  return { state: 'queued', error, next_at: new Date(at + Math.ceil(pause)).toISOString() }
}
