import type { SvcError } from '../core/errors.ts'
import { interrupted } from './network-error.ts'

type Bounds = {
  /** Ends the wait at once. */
  signal?: AbortSignal | undefined
  ms: number
  /** What a wait fails with that took too long. */
  late(): SvcError
}

/** What `work` answers, unless a signal or the time ends the wait for it first. The work itself goes on. */
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
