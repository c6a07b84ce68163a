import type { Log } from '../../core/log.ts'
import type { Service } from '../call/service.ts'
import { sweepRetention } from './retention.ts'

const everyMs = 10 * 60_000

/** Sweeps at the start and every ten minutes. Answers how to stop; a sweep under way comes to the end of its transaction. */
export const watchRetention = (service: Service, log: Log): (() => Promise<void>) => {
  const { storage } = service
  let over = false
  let sweeping: Promise<void> = Promise.resolve()
  const sweep = (): void => {
    sweeping = sweeping
      .then(() => sweepRetention(service, () => over))
      .catch((error: unknown) => log({ at: storage.now(), level: 'warn', message: String(error) }))
  }
  sweep()
  const timer = setInterval(sweep, everyMs).unref()
  return async () => {
    over = true
    clearInterval(timer)
    await sweeping
  }
}
