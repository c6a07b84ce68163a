import { sleepFor } from './sleep.ts'

type Bounds<T> = {
  /** Ends the wait immediately. */
  signal?: AbortSignal | undefined
  ms: number
  /** Answers or throws if the wait takes too long. */
  late(): T
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

/** Waits for `work` until a signal or the time ends the wait. The work itself continues. */
export const within = async <T>(
  work: Promise<T>,
  { signal, ms, late, sleep = sleepFor }: Bounds<T>,
): Promise<T> => {
  const done = new AbortController()
  const ended = signal ? AbortSignal.any([signal, done.signal]) : done.signal
  try {
    return await Promise.race([work, sleep(ms, ended).then(late)])
  } finally {
    done.abort()
  }
}
