import type { Log } from '../../core/log.ts'
import { createDecisionWaiter } from '../approvals/decision-waiter.ts'
import { sweep } from '../approvals/expiry.ts'
import type { Ring, Service, Waited } from '../call/service.ts'
import { createAccept } from '../delivery/enqueue.ts'
import { createClaims } from '../limits/claims.ts'
import { createRate } from '../limits/request-rate.ts'
import { createRulesMemory } from '../policy/rules-memory.ts'

// Longer than any transaction lives: its rows carry the time at which it began.
const overlapMs = 10_000

/** A service whose waiting falls back on a look at the store: decisions of other nodes, and requests that lapse. */
export const createService = (
  given: Omit<Service, 'waiter' | 'rulesFor' | 'claim' | 'accept' | 'rate'>,
): Service => {
  const { storage } = given
  let looked = storage.now()

  const endedSince = async (): Promise<Waited[]> => {
    await sweep(service)
    const now = storage.now()
    // The earlier of the two, in case that the clock was set back.
    const since = Date.parse(now < looked ? now : looked) - overlapMs
    looked = now
    return storage.read((db) =>
      db
        .selectFrom('approvals')
        .where('ended_at', '>', new Date(since).toISOString())
        .select(['request_id', 'org_id', 'user_id'])
        .execute(),
    )
  }

  const claim = createClaims()
  const service: Service = {
    ...given,
    waiter: createDecisionWaiter({ poll: endedSince }),
    rulesFor: createRulesMemory(storage),
    claim,
    accept: createAccept({ ...given, claim }),
    rate: createRate(storage),
  }
  return service
}

/** For development: a log line, in which the action does not stand. */
export const createLogRinger =
  (log: Log, now: () => string): Ring =>
  ({ request_id, org_id, user_id }) =>
    log({
      at: now(),
      level: 'info',
      message: `${request_id} waits for user ${user_id} of organization ${org_id}: svc approve inbox`,
    })
