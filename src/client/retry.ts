import { SvcError } from '../core/errors.ts'

/** Maximum number of attempts, including the first. */
export const maxAttempts = 3

/** The longest `Retry-After` that svc waits for, milliseconds. */
const longestWaitMs = 30_000

const lostConnection = new Set(['connection_refused', 'dns_failed', 'connection_cut', 'proxy_failed'])
const temporary = new Set([429, 502, 503, 504])

/** Whether a failure may be temporary. A time-out is excluded: it has already taken its time. */
export const isTemporary = (outcome: { status: number } | SvcError): boolean =>
  outcome instanceof SvcError ? lostConnection.has(outcome.code) : temporary.has(outcome.status)

/** Whether the service may return, after a restart or a lost connection, with its requests intact. */
export const mayComeBack = (error: unknown): error is SvcError =>
  error instanceof SvcError &&
  (error.exit === 'unreachable' || [502, 503, 504].includes(error.http_status ?? 0))

/** Whether the service cannot have received the request. */
export const neverSent = (outcome: unknown): boolean =>
  outcome instanceof SvcError && outcome.code === 'connection_refused'

/** `Retry-After` (whole seconds or a date) in milliseconds. Undefined if it is missing or not valid. */
export const retryAfterMs = (header: string | undefined, now: Date): number | undefined => {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now.getTime())
}

/**
 * Milliseconds to wait before attempt number `next` (from 2), never less than the server asked for. Undefined if the server
 * asked for more than svc waits: an earlier attempt would ignore it, and a longer wait looks like a hang.
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
