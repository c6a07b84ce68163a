import { setTimeout as wait } from 'node:timers/promises'
import { SvcError } from '../core/errors.ts'
import { interrupted } from './network-error.ts'

/** Tries in all, the first included. */
export const mostTries = 3

/** The longest wait that a server may ask for and still be waited for, milliseconds. */
const longestWaitMs = 30_000

const lostConnection = new Set(['connection_refused', 'dns_failed', 'connection_cut', 'proxy_failed'])
const passing = new Set([429, 502, 503, 504])

/** A failure that may be gone at the next try. A time-out is none: it has cost its time already. */
export const mayPass = (outcome: { status: number } | SvcError): boolean =>
  outcome instanceof SvcError ? lostConnection.has(outcome.code) : passing.has(outcome.status)

/** A service that restarts, a cut cable: what was asked there is still there. */
export const mayComeBack = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.exit === 'unreachable' || /^http_50[234]$/.test(error.code))

/** The service cannot have seen the request. */
export const neverSent = (outcome: unknown): boolean =>
  outcome instanceof SvcError && outcome.code === 'connection_refused'

/** `Retry-After` in milliseconds: whole seconds or a date. Undefined when there is none that makes sense. */
export const retryAfterMs = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}

/**
 * How long to wait before try number `next` (from 2), milliseconds; never less than the server asked for.
 * Undefined when it asked for longer than we wait: trying earlier would be rude, and waiting looks like a hang.
 */
export const retryDelayMs = (
  next: number,
  afterMs: number | undefined,
  random: () => number,
): number | undefined => {
  if (afterMs !== undefined && afterMs > longestWaitMs) return undefined
  const step = 200 * 2 ** (next - 2)
  return (afterMs ?? step / 2) + random() * step
}

export const sleepFor = async (ms: number, signal?: AbortSignal): Promise<void> => {
  try {
    await wait(ms, undefined, { signal })
  } catch {
    throw interrupted()
  }
}
