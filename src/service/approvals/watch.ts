import { endCooling } from '../devices/cooling.ts'
import type { Log } from '../../core/log.ts'
import type { Service } from '../call/service.ts'
import { sweep } from './expiry.ts'
import { siteProblem } from '../devices/site.ts'

const sweepMs = 5_000

/** Ends requests whose time is over, also when nobody looks; warns when devices cannot sign at this address. Answers how to stop. */
export const watchApprovals = (service: Service, log: Log): (() => void) => {
  const { storage, publicUrl, waiter } = service
  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })
  void storage
    .read((db) => siteProblem(db, publicUrl))
    .then(
      (problem) => problem === undefined || warn(problem),
      (error: unknown) => warn(String(error)),
    )
  // A store that cannot be written now is tried again: until then each read looks at the clock itself.
  const look = (): void => {
    void sweep(service).catch(() => undefined)
    void endCooling(service).catch(() => undefined)
  }
  look()
  const timer = setInterval(look, sweepMs).unref()
  return () => {
    clearInterval(timer)
    waiter.stop()
  }
}
