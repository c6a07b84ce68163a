import { Refusal } from '../../../core/refusal.ts'
import type { Limited, Signals } from './signals.ts'

/** Resolves on a wake, after `ms`, or when the client disconnects. */
export const pause = (woken: Promise<void>, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    void woken.then(end)
  })

const outageMs = 1_000

const isOutage = (error: unknown): boolean => error instanceof Refusal && error.status === 503

/**
 * Reads for a caller that waits: during an outage of the store again and again, until the wait is over. Throws the outage
 * then, because what was read before may no longer be true.
 */
const readThroughOutage = async <T>(
  read: () => Promise<T>,
  isOver: () => boolean,
  signal: AbortSignal | undefined,
): Promise<T> => {
  for (;;)
    try {
      return await read()
    } catch (error) {
      if (!isOutage(error) || isOver()) throw error
      // Spread, so that all who wait do not come back at the same time.
      await pause(new Promise(() => undefined), outageMs * (0.5 + Math.random()), signal)
    }
}

type Wait = {
  topics: readonly string[]
  /** 0 reads once. */
  seconds: number
  signal?: AbortSignal | undefined
  limit?: Limited
  /** With one topic: those whose reads have the same name read together after a change. */
  share?: string
}

/** What was read: whether the wait is over, and otherwise when it may be without a signal, in milliseconds. */
type Found<T> = { value: T; done: boolean; mayChangeInMs?: number }

/**
 * Returns what was read once it is `done`, or as it is after `seconds`, on a disconnect, when newer waits take the place of this
 * one, or when the service stops.
 */
export const waitFor = async <T>(
  signals: Signals,
  { topics, seconds, signal: gone, limit, share }: Wait,
  read: () => Promise<Found<T>>,
): Promise<T> => {
  const until = performance.now() + seconds * 1000
  const place = limit && seconds > 0 ? signals.limits(limit) : undefined
  const signal = gone && place ? AbortSignal.any([gone, place.signal]) : (gone ?? place?.signal)
  const isOver = (): boolean => performance.now() >= until || signals.stopped || signal?.aborted === true
  try {
    for (let isWaiting = false; ; isWaiting = true) {
      // Listen before reading: a change between the two wakes this listener.
      const listening = signals.listen(topics)
      const readAgain = () => (share === undefined ? read() : listening.share(share, read))
      try {
        // A wait does not begin during an outage.
        const found = await (isWaiting ? readThroughOutage(readAgain, isOver, signal) : read())
        if (found.done || isOver()) return found.value
        const left = until - performance.now()
        await pause(listening.woken, Math.max(1, Math.min(left, found.mayChangeInMs ?? left)), signal)
      } finally {
        listening.close()
      }
    }
  } finally {
    place?.close()
  }
}
