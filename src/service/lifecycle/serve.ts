import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { isLoopbackHost } from '../../core/loopback.ts'
import type { Log } from '../../core/log.ts'
import { Refusal } from '../../core/refusal.ts'
import { watchApprovals } from '../approvals/expiry.ts'
import type { NotifyApprover } from '../call/service.ts'
import { watchCustody } from '../custody/altered-rows.ts'
import { createAdapters } from '../delivery/adapters.ts'
import { watchAuditHeads } from '../events/audit-heads.ts'
import { watchWebhooks } from '../events/webhook-feed.ts'
import { handlers } from '../handlers/all.ts'
import type { Phase } from '../http/health.ts'
import { createEventCounts } from '../http/metrics/event-counts.ts'
import { openMetrics } from '../http/metrics/metrics.ts'
import { apiRoot } from '../http/routes.ts'
import { hostInUrl, type HttpServer, startServer } from '../http/server.ts'
import { createQuotes, openProvider } from '../machines/quotes/quotes.ts'
import { createVapid } from '../page/push/vapid.ts'
import { readDatabaseUrl } from '../storage/postgres/database-url.ts'
import { asStoreProblem } from '../storage/sqlite/errors.ts'
import { compose, type Composed } from './compose.ts'
import { storeFile, unusable } from './data-dir.ts'
import { createNodeId, watchNode } from './node.ts'
import { ensureOperatorKey, makeAskKey } from './operator-keys.ts'
import { nameOfPlace, openPlace, type StorePlace } from './place.ts'
import { watchExpired, watchRetention } from './retention.ts'
import { createReload } from './reload.ts'
import { readOptions, type ServeOptions, warnOfExpiry } from './serve-options.ts'

export type RunningService = StorePlace & {
  /** Where the store is, without a password. */
  place: string
  baseUrl: string
  mcpUrl: string
  healthUrl: string
  approverUrl: string
  /** With `metricsPort`. */
  metricsUrl?: string
  /** Only if it was just created; it is not stored. */
  operatorKey?: string
  /** Whether this is a valid key that can request approvals. */
  canAsk(key: string): Promise<boolean>
  /** Creates a key that can only request approvals; it is not stored. */
  makeAskKey(): Promise<string>
  /** See `createReload`. */
  reload(): void
  /** Finishes the requests in progress, then closes the store. */
  stop(): Promise<void>
}

/** With other nodes: long enough for a load balancer to see that this one is not ready. */
const standardDrainMs = 5_000

/** An error of the disk or the store as an SvcError with the next command. */
const asStartProblem = async ({ dataDir, databaseUrl }: StorePlace, error: unknown): Promise<unknown> => {
  if (dataDir === undefined) {
    // A mistake in this program has no code.
    if (!(error instanceof Refusal) && (error as { code?: unknown } | undefined)?.code === undefined)
      return error
    const { asDatabaseProblem } = await import('../storage/postgres/problems.ts')
    return asDatabaseProblem(readDatabaseUrl(databaseUrl), error)
  }
  if ((error as NodeJS.ErrnoException | undefined)?.errno !== undefined) return unusable(dataDir, error)
  return asStoreProblem(storeFile(dataDir), error)
}

/** For development: a log line instead of a notification. It never contains the action. */
const createLogNotifier =
  (log: Log, now: () => string): NotifyApprover =>
  ({ request_id, org_id, user_id }) =>
    log({
      at: now(),
      level: 'info',
      message: `${request_id} is pending for user ${user_id} of organization ${org_id}: svc approve inbox`,
    })

/** Starts the service in this process. Throws an SvcError that says what to do, and then leaves nothing open. */
export const startService = async (options: ServeOptions): Promise<RunningService> => {
  const { host, publicUrl, tls, webhookNetworks, settings, metricsAddress } = readOptions(options)
  const { env, port = 8080, trustedProxy = [], dev = false, version, build } = options
  const id = createNodeId()
  // A record is made for its line alone, and a copy of it would cost more than the line.
  const log: Log = (record) => options.log(Object.assign(record, { node: id, version }))
  const place: StorePlace =
    options.dataDir === undefined ? { databaseUrl: options.databaseUrl } : { dataDir: options.dataDir }
  const closing: (() => void | Promise<void>)[] = []
  const close = async (): Promise<void> => {
    for (let last = closing.pop(); last; last = closing.pop()) await last()
  }
  try {
    const report = (message: string, level: 'info' | 'warn' = 'info'): void =>
      log({ at: new Date().toISOString(), level, message })
    warnOfExpiry(tls, report)
    const { storage, keyring } = await openPlace(options, env, report, closing)
    const originAt = (bound: number): string => `${tls ? 'https' : 'http'}://${hostInUrl(host)}:${bound}`
    const vapid = await createVapid(storage, keyring)
    const provider = openProvider(settings.quotes, storage.now)
    const quotes = createQuotes(provider, { now: storage.now, log })
    let phase: Phase = 'starting'
    const counts = metricsAddress && createEventCounts()
    let composed: Composed | undefined
    let useChannels: ReturnType<typeof createAdapters>['use']
    const server: HttpServer = await startServer({ port, host, tls, publicUrl }, (bound) => {
      const localOnly = isLoopbackHost(host) && publicUrl === undefined && trustedProxy.length === 0
      composed = compose({
        storage,
        keyring,
        vapid,
        publicUrl: publicUrl ?? originAt(bound),
        dev,
        webhookNetworks,
        supportEmail: settings.supportEmail,
        periods: settings.periods,
        // With --dev no text message is sent, so a link is the proof.
        deviceProof: settings.sms && !dev ? 'otp' : 'link',
        quotes,
        notifyApprover: dev ? createLogNotifier(log, storage.now) : () => undefined,
        deliveryWith: (own) => {
          const delivery = createAdapters({ settings, dev, env, log, now: storage.now, ...own })
          closing.push(delivery.close)
          useChannels = delivery.use
          return delivery
        },
        handlers,
        entry: { loopbackOnly: isLoopbackHost(host), publicUrl, trustedProxy },
        tools: { token: env.MCP_AUTH_TOKEN || undefined, defaults: settings.asking, localOnly },
        log,
        phase: () => phase,
        node: {
          address: `${hostname()}:${bound}`,
          id,
          version,
          state: () => (phase === 'stopping' ? phase : 'serving'),
          requests: () => server.requests(),
        },
        counts,
      })
      const { app } = composed
      return (request, bindings) => app.fetch(request, bindings as object)
    })
    const { service, outbox, mcp, authenticate } = composed!
    closing.push(outbox.stop, server.stop)
    const metrics =
      counts &&
      (await openMetrics({ ...metricsAddress!, tls, build, dataDir: options.dataDir }, service, counts))
    if (metrics) closing.push(metrics.stop)
    await outbox.start({ alone: !storage.shared })
    closing.push(watchWebhooks(service, log))
    // Stopped before the server, so that waiting requests are answered immediately.
    closing.push(watchApprovals(service, log), watchExpired(service, log), watchRetention(service, log))
    // Stopped before those, because tool calls withdraw their pending requests.
    closing.push(mcp.close)
    // Only now: a start that fails must not create a key that is never shown.
    const operatorKey = await ensureOperatorKey(service, env.SVC_BOOTSTRAP_API_KEY)
    const origin = originAt(server.port)
    phase = 'serving'
    // After the operator key exists, which is the first row of a new store.
    closing.push(watchCustody(service, log), watchAuditHeads(service, log))
    const self = storage.shared ? watchNode(service, log) : undefined
    if (self) closing.push(self.stop)
    const { drainMs = storage.shared ? standardDrainMs : 0 } = options
    return {
      baseUrl: origin + apiRoot,
      mcpUrl: `${origin}/mcp`,
      healthUrl: `${origin}/health`,
      approverUrl: `${publicUrl ?? origin}/approver`,
      ...(metrics && { metricsUrl: metrics.url }),
      ...place,
      place: nameOfPlace(place),
      ...(operatorKey !== undefined && { operatorKey }),
      canAsk: async (key) => {
        try {
          return (await authenticate(key))?.scopes.has('ask') === true
        } catch (error) {
          if (error instanceof Refusal) return false
          throw error
        }
      },
      makeAskKey: () => makeAskKey(service),
      reload: createReload(options, {
        settings,
        service,
        useChannels: useChannels!,
        useTls: (renewed) => {
          server.useTls(renewed)
          metrics?.useTls(renewed)
        },
        report,
      }),
      stop: async () => {
        phase = 'stopping'
        report('The service stops')
        if (drainMs > 0) {
          void self?.report()
          server.drain()
          await wait(drainMs)
        }
        await close()
      },
    }
  } catch (error) {
    await close()
    throw await asStartProblem(options, error)
  }
}
