import type { Log } from '../../core/log.ts'
import { createDecisionWaiter } from '../approvals/decision-waiter.ts'
import { endedAmong, sweep } from '../approvals/expiry.ts'
import { hearNodes, tellNodes } from '../call/node-messages.ts'
import type { Decided, DecisionWaiter, NotifyApprover, Service } from '../call/service.ts'
import { createAccept } from '../delivery/enqueue.ts'
import { announceCommits, createCommits } from '../events/commits.ts'
import { createClaims } from '../limits/claims.ts'
import { createRate } from '../limits/request-rate.ts'
import { createWaits } from '../limits/waits.ts'
import type { Storage } from '../storage/storage.ts'
import { createFactorsMemory } from '../policy/factors-memory.ts'
import { createNode, type NodeOptions } from './node.ts'

type Sharing = {
  /** Called when the waiter stops. */
  stop(): void
  /** Counts what a person decided at this node. */
  count(decided: Decided): void
}

/** A waiter that also wakes the callers that wait at other nodes. */
const shareWakes = (storage: Storage, waiter: DecisionWaiter, { stop, count }: Sharing): DecisionWaiter => {
  storage.subscribe((message) => {
    if (message !== undefined) return
    waiter.recheck()
    // What this node sent may be lost, too.
    tellNodes(storage, 'lost', true)
  })
  hearNodes(storage, 'lost', waiter.recheck)
  hearNodes(storage, 'wake', waiter.wake)
  return {
    ...waiter,
    get stopped() {
      return waiter.stopped
    },
    get waiting() {
      return waiter.waiting
    },
    stop: () => {
      waiter.stop()
      stop()
    },
    wake: (request) => {
      waiter.wake(request)
      if (request.decided) count(request.decided)
      const { request_id, org_id, user_id } = request
      // A caller may pass its whole row. Nothing but the ids leaves this process.
      tellNodes(storage, 'wake', { ...(request_id !== undefined && { request_id }), org_id, user_id })
    },
  }
}

/** Milliseconds between two looks of a node for wakes that were lost. */
const recheckMs = 1_000

/** The service. Its waiter also looks for requests that expire and, on a shared store, for those that ended elsewhere. */
export const createService = (
  parts: Omit<Service, 'waiter' | 'commits' | 'node' | 'factorsFor' | 'claim' | 'accept' | 'rate' | 'waits'>,
  node: NodeOptions = {},
  countDecision: (decided: Decided) => void = () => undefined,
): Service => {
  const commits = createCommits()
  const storage = announceCommits(parts.storage, commits)
  const polling = storage.shared
    ? { poll: (requests: string[]) => endedAmong(service, requests), every: recheckMs }
    : // Nobody else ends a request, and the sweep wakes those who wait for what it ends.
      { poll: () => sweep(service).then(() => []) }
  const waiter = shareWakes(storage, createDecisionWaiter(polling), {
    stop: commits.stop,
    count: countDecision,
  })
  const claim = createClaims()
  const service: Service = {
    ...parts,
    storage,
    waiter,
    commits,
    node: createNode({ storage, waiter }, node),
    factorsFor: createFactorsMemory(storage),
    claim,
    accept: createAccept({ ...parts, claim }),
    rate: createRate(storage),
    waits: createWaits(),
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
