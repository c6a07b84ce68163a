import type { Log } from '../../core/log.ts'
import { takePeriod } from '../storage/period.ts'
import type { Storage } from '../storage/storage.ts'

type Job<R> = {
  everyMs: number
  run(isStopped: () => boolean): Promise<unknown>
  failed: (error: unknown) => R
}

/** Runs a job now and regularly, never twice at a time. What it returns stops it, and waits for a run in progress, whose error is then not reported. */
export const repeat = ({ everyMs, run, failed }: Job<void>): (() => Promise<void>) => {
  let stopped = false
  let isDue = false
  let running: Promise<void> | undefined
  const runDue = async (): Promise<void> => {
    while (isDue) {
      isDue = false
      await run(() => stopped).catch((error: unknown) => void (stopped || failed(error)))
    }
    running = undefined
  }
  const start = (): void => {
    isDue = true
    running ??= runDue()
  }
  start()
  const timer = setInterval(start, everyMs).unref()
  return async () => {
    stopped = true
    isDue = false
    clearInterval(timer)
    await running
  }
}

/** As `repeat`, for work that one node does in each period. An error is logged. */
export const repeatForAll = (
  { storage, log }: { storage: Storage; log: Log },
  {
    work,
    everyMs,
    run,
    failed = String,
  }: Omit<Job<string>, 'failed'> & Partial<Job<string>> & { work: string },
) =>
  repeat({
    everyMs,
    run: async (isStopped) => {
      if (await takePeriod(storage, work, everyMs)) await run(isStopped)
    },
    failed: (error) => log({ at: storage.now(), level: 'warn', message: failed(error) }),
  })
