import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import type { Table } from '../../contract/table.ts'
import type { Log } from '../../core/log.ts'
import { createEngineGateway } from '../approvals/engine-gateway.ts'
import { endedAmong, sweep } from '../approvals/expiry.ts'
import { createTeller } from '../approvals/told.ts'
import type { Handlers } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import { createSignals, signalCommits } from '../call/signals/signals.ts'
import type { Adapter, Adapters } from '../delivery/adapter.ts'
import { createAccept } from '../delivery/enqueue.ts'
import { createOutbox, type OutboxOptions } from '../delivery/outbox.ts'
import { createWebhookAdapter } from '../events/webhook-adapter.ts'
import { createApp } from '../http/app.ts'
import { createAddressReader, type EntryOptions } from '../http/entry-check.ts'
import type { Phase } from '../http/health.ts'
import type { EventCounts } from '../http/metrics/event-counts.ts'
import { createAuthenticator } from '../keys/authenticator.ts'
import { createClaims } from '../limits/claims.ts'
import { createRate } from '../limits/request-rate.ts'
import { createMcpServer } from '../mcp/http.ts'
import { addressesAt } from '../mcp/oauth/addresses.ts'
import { createNoOAuthRoutes, createOAuthRoutes } from '../mcp/oauth/routes.ts'
import { createPushAdapter } from '../page/push/push-adapter.ts'
import type { Vapid } from '../page/push/vapid.ts'
import { createFactorsMemory } from '../policy/factors-memory.ts'
import { createNode, type NodeOptions } from './node.ts'

/** Milliseconds between two looks of a node for wakes that were lost. */
const recheckMs = 1_000

export type Delivery = Pick<Service, 'channels' | 'loggedChannels'> & { adapters: Adapters }

/** What this file creates of a service. */
type Created = 'signals' | 'node' | 'factorsFor' | 'claim' | 'accept' | 'rate' | 'deliver' | 'pushKey'

type Parts = Omit<Service, keyof Delivery | Created> & {
  vapid: Vapid
  /** The channels, from the adapters that need no settings. */
  deliveryWith(own: Record<'push' | 'webhook', Adapter>): Delivery
  handlers: Handlers<Table>
  entry: EntryOptions
  /** The tool server at /mcp; see `createMcpServer`. */
  tools: { token: string | undefined; defaults?: AskingDefaults; localOnly: boolean }
  log: Log
  phase?: () => Phase
  node?: NodeOptions
  counts?: EventCounts | undefined
  sending?: Pick<OutboxOptions, 'random' | 'timeoutMs'>
}

export type Composed = ReturnType<typeof compose>

/**
 * Connects the parts of a service, without starting any of them but the look for requests that expire and, on a shared store, for
 * those that ended elsewhere.
 */
export const compose = (parts: Parts) => {
  const { vapid, deliveryWith, handlers, entry, tools, log, phase, node, counts, sending, ...own } = parts
  const { storage, keyring, publicUrl } = own
  const push = createPushAdapter({ ...own, vapid })
  const webhook = createWebhookAdapter({ ...own, tell: createTeller({ storage, keyring }) })
  const { adapters, channels, loggedChannels } = deliveryWith({ push, webhook })
  const outbox = createOutbox({ storage, keyring, log, adapters, attempted: counts?.attempted, ...sending })
  const polling = storage.shared
    ? { poll: (requests: string[]) => endedAmong(service, requests), every: recheckMs }
    : // Nobody else ends a request, and the sweep wakes those who wait for what it ends.
      { poll: () => sweep(service).then(() => []) }
  const signals = createSignals(storage, { ...polling, count: counts?.decided })
  const signalling = signalCommits(storage, signals)
  const claim = createClaims()
  const service: Service = {
    ...own,
    channels,
    loggedChannels,
    pushKey: vapid.key,
    deliver: outbox.wake,
    storage: signalling,
    signals,
    node: createNode({ storage: signalling, signals }, node),
    factorsFor: createFactorsMemory(signalling),
    claim,
    accept: createAccept({ channels, keyring, claim }),
    rate: createRate(signalling, signals),
  }
  const authenticate = createAuthenticator(service)
  const addresses = addressesAt(publicUrl)
  const addressOf = createAddressReader(entry)
  const mcp = createMcpServer({
    nodes: service.signals,
    authenticate,
    addresses,
    rate: service.rate.count,
    gatewayFor: (caller, context) => createEngineGateway(service, caller, () => addressOf(context)),
    outlived: storage.shared,
    ...tools,
  })
  const authorization = addresses
    ? createOAuthRoutes({ service, authenticate, addresses, addressOf })
    : createNoOAuthRoutes()
  const mounted = [...mcp.routes, ...authorization]
  const app = createApp({
    service,
    authenticate,
    handlers,
    entry,
    mounted,
    log,
    phase,
    count: counts?.route,
  })
  return { service, outbox, mcp, app, authenticate }
}
