import type { SvcError } from '../core/errors.ts'
import { interrupted } from './network-error.ts'

type Bounds = {
  /** Ends the wait immediately. */
  signal?: AbortSignal | undefined
  ms: number
  /** The error if the wait takes too long. */
  late(): SvcError
}

/** Waits for `work` until a signal or the time ends the wait. The work itself continues. */
export const within = <T>(work: Promise<T>, { signal, ms, late }: Bounds): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
    const abort = (): void => {
      end()
      reject(interrupted())
    }
    const timer = setTimeout(() => {
      end()
      reject(late())
    }, ms)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    work.then(resolve, reject).finally(end)
  })
