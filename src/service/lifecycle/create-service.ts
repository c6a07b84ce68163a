import type { Log } from '../../core/log.ts'
import { endedAmong, sweep } from '../approvals/expiry.ts'
import type { NotifyApprover, Service } from '../call/service.ts'
import { createAccept } from '../delivery/enqueue.ts'
import { createClaims } from '../limits/claims.ts'
import { createRate } from '../limits/request-rate.ts'
import { createFactorsMemory } from '../policy/factors-memory.ts'
import { createSignals, type Decided, signalCommits } from '../call/signals/signals.ts'
import { createNode, type NodeOptions } from './node.ts'

/** Milliseconds between two looks of a node for wakes that were lost. */
const recheckMs = 1_000

/** What a service cannot create by itself. */
export type ServiceParts = Omit<Service, 'signals' | 'node' | 'factorsFor' | 'claim' | 'accept' | 'rate'>

/** The service. It also looks for requests that expire and, on a shared store, for those that ended elsewhere. */
export const createService = (
  parts: ServiceParts,
  node: NodeOptions = {},
  count?: (decided: Decided) => void,
): Service => {
  const polling = parts.storage.shared
    ? { poll: (requests: string[]) => endedAmong(service, requests), every: recheckMs }
    : // Nobody else ends a request, and the sweep wakes those who wait for what it ends.
      { poll: () => sweep(service).then(() => []) }
  const signals = createSignals(parts.storage, { ...polling, count })
  const storage = signalCommits(parts.storage, signals)
  const claim = createClaims()
  const service: Service = {
    ...parts,
    storage,
    signals,
    node: createNode({ storage, signals }, node),
    factorsFor: createFactorsMemory(storage),
    claim,
    accept: createAccept({ ...parts, claim }),
    rate: createRate(storage, signals),
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
