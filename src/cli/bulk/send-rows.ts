import { sleepFor } from '../../client/retry.ts'
import { SvcError } from '../../core/errors.ts'
import type { Item, Outcome } from './kind.ts'
import type { Result } from './results.ts'

/** Failures in a row that are not the rows' own, after which going on would only fail the rest. */
const mostFaults = 32

/** A service that asks to wait is waited for: so long at most, and so often without a row that went well. */
const longestPauseMs = 5 * 60_000
const mostPauses = 20

type Options = {
  items: readonly Item[]
  /** How many rows may be on their way at the same time. */
  concurrency: number
  send(item: Item): Promise<Outcome>
  done(item: Item, result: Result): void
  /** Says that nothing is sent for so long, because the service asks for it. */
  paused(ms: number): void
  /** Aborted: no further row is taken; those on their way come to their end. */
  signal: AbortSignal
  sleep?(ms: number, signal: AbortSignal): Promise<void>
}

const isLimit = ({ http_status }: SvcError): boolean => http_status === 429

/** The service's fault, or that of address and key: any row would have failed. */
const isFault = ({ http_status, exit }: SvcError): boolean =>
  http_status === undefined
    ? exit === 'unreachable'
    : http_status >= 500 || http_status === 404 || http_status === 403

/** Nothing was asked for yet, the key is not valid, or there is no room: the next row fares no better. */
const isHopeless = ({ http_status, exit, code }: SvcError): boolean =>
  http_status === 401 ||
  code === 'quota_exceeded' ||
  (http_status === undefined && exit !== 'unreachable' && exit !== 'refused')

/**
 * Sends rows, so many at a time, in their order. Answers the error for which it stopped before the end; undefined when
 * all were tried or `signal` was aborted.
 */
export const sendRows = async (options: Options): Promise<SvcError | undefined> => {
  const { items, concurrency, send, done, paused, signal, sleep = sleepFor } = options
  const again: Item[] = []
  let next = 0
  let faults = 0
  let pauses = 0
  let pause: Promise<void> | undefined
  let stopped: SvcError | undefined

  const limited = (refusal: SvcError): void => {
    if (pause) return
    const ms = refusal.retry_after_ms ?? Math.min(1000 * 2 ** pauses, longestPauseMs)
    pauses += 1
    if (ms > longestPauseMs || pauses > mostPauses) stopped = refusal
    else {
      paused(ms)
      const over = (): void => void (pause = undefined)
      pause = sleep(ms, signal).then(over, over)
    }
  }

  const failed = (item: Item, error: SvcError): void => {
    if (isLimit(error)) {
      again.push(item)
      return limited(error)
    }
    if (isHopeless(error)) {
      stopped ??= error
      return
    }
    done(item, { status: 'failed', error })
    faults = isFault(error) ? faults + 1 : 0
    if (faults >= mostFaults) stopped ??= error
  }

  const work = async (): Promise<void> => {
    for (;;) {
      if (pause) await pause
      if (stopped || signal.aborted) return
      const item = again.pop() ?? items[next++]
      if (!item) return
      try {
        done(item, await send(item))
        faults = 0
        pauses = 0
      } catch (error) {
        if (!(error instanceof SvcError)) throw error
        // Its answer was not waited for: whether it was done is not known, and a resume will ask.
        if (error.exit === 'interrupted') return
        failed(item, error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  return stopped
}
