import { sleepFor } from '../core/sleep.ts'
import { mayComeBack } from './retry.ts'

/** Shorter than the time-out of the transport for an answer. */
const longestPoll = 50
const pauseMs = 1_000
/** An answer that still says pending after less than this did not wait. */
const tooSoonMs = 500

export type Following = {
  signal?: AbortSignal | undefined
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
  /** A monotonic clock, milliseconds. */
  clock?(): number
}

/**
 * Waits until a request is no longer pending, and returns it, or its state after `seconds`. `read` asks the service to delay
 * its answer for `wait_s` seconds. A restart of the service does not end the wait: the request still exists.
 */
export const followRequest = async <R extends { status: string }>(
  read: (wait_s?: number) => Promise<R>,
  seconds: number,
  { signal, sleep = sleepFor, clock = () => performance.now() }: Following = {},
): Promise<R> => {
  const end = clock() + seconds * 1000
  for (;;) {
    const started = clock()
    const left = Math.ceil((end - started) / 1000)
    if (left <= 0) return read()
    try {
      const record = await read(Math.min(left, longestPoll))
      if (record.status !== 'pending') return record
      // A service that is about to stop does not wait.
      if (clock() - started < tooSoonMs) await sleep(pauseMs, signal)
    } catch (error) {
      if (!mayComeBack(error)) throw error
      await sleep(pauseMs, signal)
    }
  }
}
