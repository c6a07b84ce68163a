import type { Hono } from 'hono'
import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import type { Table } from '../../contract/table.ts'
import type { Log } from '../../core/log.ts'
import { createEngineGateway } from '../approvals/engine-gateway.ts'
import { createTeller } from '../approvals/told.ts'
import type { Handlers } from '../call/call.ts'
import type { Service } from '../call/service.ts'
import type { Adapter, Adapters } from '../delivery/adapter.ts'
import { createOutbox, type Outbox, type OutboxOptions } from '../delivery/outbox.ts'
import { createWebhookAdapter } from '../events/webhook-adapter.ts'
import { createApp } from '../http/app.ts'
import { createAddressReader, type EntryOptions } from '../http/entry-check.ts'
import type { Phase } from '../http/health.ts'
import type { EventCounts } from '../http/metrics/event-counts.ts'
import { type Authenticate, createAuthenticator } from '../keys/authenticator.ts'
import { createMcpServer, type McpServer } from '../mcp/http.ts'
import { addressesAt } from '../mcp/oauth/addresses.ts'
import { createNoOAuthRoutes, createOAuthRoutes } from '../mcp/oauth/routes.ts'
import { createPushAdapter } from '../page/push/push-adapter.ts'
import type { Vapid } from '../page/push/vapid.ts'
import { createService, type ServiceParts } from './create-service.ts'
import type { NodeOptions } from './node.ts'

export type Delivery = Pick<Service, 'channels' | 'loggedChannels'> & { adapters: Adapters }

type Parts = Omit<ServiceParts, keyof Delivery | 'deliver' | 'pushKey'> & {
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

export type Composed = {
  service: Service
  outbox: Outbox
  mcp: McpServer
  app: Hono
  authenticate: Authenticate
}

/** Connects the parts of a service, without starting any of them. */
export const compose = (parts: Parts): Composed => {
  const { vapid, deliveryWith, handlers, entry, tools, log, phase, node, counts, sending, ...own } = parts
  const { storage, keyring, publicUrl, dev } = own
  const push = createPushAdapter({ storage, keyring, vapid, publicUrl, dev })
  const webhook = createWebhookAdapter({
    storage,
    keyring,
    tell: createTeller({ storage, keyring }),
    publicUrl,
    dev,
    networks: own.webhookNetworks,
  })
  const { adapters, channels, loggedChannels } = deliveryWith({ push, webhook })
  const outbox = createOutbox({ storage, keyring, log, adapters, attempted: counts?.attempted, ...sending })
  const service = createService(
    { ...own, channels, loggedChannels, pushKey: vapid.key, deliver: outbox.wake },
    node,
    counts?.decided,
  )
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
