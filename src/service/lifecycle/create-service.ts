import type { Log } from '../../core/log.ts'
import { createDecisionWaiter } from '../approvals/decision-waiter.ts'
import { sweep } from '../approvals/expiry.ts'
import type { DecisionWaiter, NotifyApprover, Service, WakeTarget } from '../call/service.ts'
import { createAccept } from '../delivery/enqueue.ts'
import { createClaims } from '../limits/claims.ts'
import { createRate } from '../limits/request-rate.ts'
import type { Storage } from '../storage/storage.ts'
import { createRulesMemory } from '../policy/rules-memory.ts'
import { createNode, type NodeOptions } from './node.ts'

// Longer than any transaction takes, because its rows have the time at which it began.
const overlapMs = 10_000

/** A waiter that also wakes the callers that wait at other nodes. */
const shareWakes = (storage: Storage, waiter: DecisionWaiter): DecisionWaiter => {
  storage.subscribe((message) => {
    if (message === undefined) waiter.wakeAll()
    else waiter.wake(JSON.parse(message) as WakeTarget)
  })
  return {
    ...waiter,
    get stopped() {
      return waiter.stopped
    },
    get waiting() {
      return waiter.waiting
    },
    wake: (request) => {
      waiter.wake(request)
      storage.publish(JSON.stringify(request))
    },
  }
}

/** The service. Its waiter also polls the store, for decisions on other nodes and for requests that expire. */
export const createService = (
  parts: Omit<Service, 'waiter' | 'node' | 'rulesFor' | 'claim' | 'accept' | 'rate'>,
  node: NodeOptions = {},
): Service => {
  const { storage } = parts
  let polledAt = storage.now()

  const endedSince = async (): Promise<WakeTarget[]> => {
    await sweep(service)
    const now = storage.now()
    // The earlier of the two, in case the clock was set back.
    const since = Date.parse(now < polledAt ? now : polledAt) - overlapMs
    polledAt = now
    return storage.read((db) =>
      db
        .selectFrom('approvals')
        .where('ended_at', '>', new Date(since).toISOString())
        .select(['request_id', 'org_id', 'user_id'])
        .execute(),
    )
  }

  const claim = createClaims()
  const waiter = shareWakes(storage, createDecisionWaiter({ poll: endedSince }))
  const service: Service = {
    ...parts,
    waiter,
    node: createNode({ storage, waiter }, node),
    rulesFor: createRulesMemory(storage),
    claim,
    accept: createAccept({ ...parts, claim }),
    rate: createRate(storage),
  }
  return service
}

/** For development: a log line instead of a notification. It never contains the action. */
export const createLogNotifier =
  (log: Log, now: () => string): NotifyApprover =>
  ({ request_id, org_id, user_id }) =>
    log({
      at: now(),
      level: 'info',
      message: `${request_id} is pending for user ${user_id} of organization ${org_id}: svc approve inbox`,
    })
