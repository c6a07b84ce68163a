import { sleepFor } from '../../core/sleep.ts'
import { SvcError } from '../../core/errors.ts'
import type { Item } from './check-rows.ts'

export type Outcome = 'created' | 'skipped'

/** The import stops after this many failures in a row that are not caused by a row itself. */
const mostFaults = 32

/** The longest wait for a rate limit, and the most waits without a successful row between them. */
const longestPauseMs = 5 * 60_000
const mostPauses = 20

type Options = {
  items: readonly Item[]
  concurrency: number
  send(item: Item): Promise<Outcome>
  done(item: Item, outcome: Outcome | SvcError): void
  /** Called before a wait for the rate limit. */
  paused(ms: number): void
  /** If aborted, no further row is sent; requests in progress finish. */
  signal: AbortSignal
  sleep?(ms: number, signal: AbortSignal): Promise<void>
}

/** Caused by the service, the address or the key: any row would have failed. */
const isFault = ({ http_status, exit }: SvcError): boolean =>
  http_status === undefined
    ? exit === 'unreachable'
    : http_status >= 500 || http_status === 404 || http_status === 403

/** Nothing was sent, the key is not valid, or the quota is used up: the next row would fail too. */
const isHopeless = ({ http_status, exit, code }: SvcError): boolean =>
  http_status === 401 ||
  code === 'quota_exceeded' ||
  (http_status === undefined && exit !== 'unreachable' && exit !== 'refused')

/**
 * Sends rows in order, several at a time. Returns the error that stopped it before the end; undefined if all rows were
 * attempted or `signal` was aborted.
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
    if (error.http_status === 429) {
      again.push(item)
      return limited(error)
    }
    if (isHopeless(error)) {
      stopped ??= error
      return
    }
    done(item, error)
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
        // The response did not arrive in time, so the outcome is unknown. Another run finds out.
        if (error.exit === 'interrupted') return
        failed(item, error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  return stopped
}
