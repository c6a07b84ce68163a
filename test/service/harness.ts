import type { Table } from '../../src/contract/table.ts'
import type { LogRecord } from '../../src/core/log.ts'
import type { Handlers } from '../../src/service/call/call.ts'
import type { Channel, Message } from '../../src/service/call/message.ts'
import type { NotifyApprover, Service } from '../../src/service/call/service.ts'
import { periodsOf } from '../../src/service/config/retention.ts'
import { createKeyring } from '../../src/service/custody/create-keyring.ts'
import type { Adapters } from '../../src/service/delivery/adapter.ts'
import { wrapContext } from '../../src/service/delivery/enqueue.ts'
import { handlers as allHandlers } from '../../src/service/handlers/all.ts'
import type { EntryOptions } from '../../src/service/http/entry-check.ts'
import { compose } from '../../src/service/lifecycle/compose.ts'
import type { QuoteProvider } from '../../src/service/machines/quotes/quote.ts'
import { createQuotes } from '../../src/service/machines/quotes/quotes.ts'
import { sampleProvider } from '../../src/service/machines/quotes/quotes.ts'
import { openTestStore, shareTestStore, type TestStore } from './test-store.ts'
import { watchedStorage } from './watched-storage.ts'

type Options = {
  /** Starts from a copy of the store that another was closed with. */
  from?: string | undefined
  /** Starts another node on the store of this service. */
  at?: { store: TestStore }
  now?: () => Date
  /** Handlers that replace the real ones. */
  handlers?: Partial<Handlers<Table>> | undefined
  entry?: Partial<EntryOptions>
  /** As with `svc serve --dev`. */
  dev?: boolean
  /** Private networks that webhooks may reach. */
  webhookNetworks?: Service['webhookNetworks']
  publicUrl?: string
  /** How a first device proves its owner; `link` by default. */
  deviceProof?: 'link' | 'otp'
  /** The channels for messages; without an adapter, a message stays in the outbox. */
  channels?: Channel[]
  /** Those whose messages only go to the log. */
  onlyLogged?: Channel[]
  /** Pushes are really sent unless this is set. */
  adapters?: Adapters
  /** Of one attempt to send. */
  timeoutMs?: number
  /** Each write is undone once and runs again. */
  twice?: boolean
  /** Where stock prices come from; the sample when left out. */
  quotes?: QuoteProvider
}

type CallOptions = {
  /** The operator's when left out; null sends none. */
  key?: string | null | undefined
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown | undefined
  headers?: Record<string, string> | undefined
  /** Where the request comes from. */
  from?: string | undefined
  signal?: AbortSignal | undefined
}

export type Answer = {
  status: number
  // oxlint-disable-next-line no-explicit-any -- tests read what the service answers
  body: any
  headers: Record<string, string>
}

/** The real service in process, on a store in a folder of its own. Paths are below the API root unless they start at the origin. */
export const startTestService = async ({
  from,
  at,
  now,
  handlers,
  entry,
  dev = false,
  webhookNetworks = [],
  publicUrl = 'http://127.0.0.1:8080',
  deviceProof = 'link',
  channels = ['email', 'sms', 'push', 'webhook'],
  onlyLogged = [],
  adapters,
  timeoutMs,
  quotes = sampleProvider,
  twice = process.env['SVC_TEST_TWICE'] === '1',
}: Options = {}) => {
  const store = at ? await shareTestStore(at.store, now) : await openTestStore({ from, now })
  const { folder, masterKey, vapid, operatorKey } = store
  const storage = watchedStorage(store.storage, { twice })
  const keyring = await createKeyring(storage, masterKey)
  const log: LogRecord[] = []
  const notified: Parameters<NotifyApprover>[0][] = []
  const logged = (record: LogRecord): number => log.push(record)
  const { service, outbox, mcp, app } = compose({
    storage,
    keyring,
    vapid,
    publicUrl,
    dev,
    webhookNetworks,
    deviceProof,
    notifyApprover: (request) => void notified.push(request),
    supportEmail: 'support@service.example',
    periods: periodsOf(),
    quotes: createQuotes(quotes, { now: storage.now, log: logged }),
    deliveryWith: (own) => ({
      adapters: { ...own, ...adapters },
      channels: new Set(channels),
      loggedChannels: new Set(onlyLogged),
    }),
    handlers: { ...allHandlers, ...handlers },
    entry: { loopbackOnly: true, publicUrl: undefined, trustedProxy: [], ...entry },
    tools: { token: undefined, localOnly: false },
    log: logged,
    sending: { random: () => 1, timeoutMs },
  })

  const call = async (
    method: string,
    path: string,
    { key = operatorKey, body, headers = {}, from, signal }: CallOptions = {},
  ): Promise<Answer> => {
    const url = /^\/(?:svc\/|\.well-known\/|health|openapi\.json)/.test(path)
      ? path
      : `/admin/public/api${path}`
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const peer = { incoming: { socket: { remoteAddress: from } } }
    const request = {
      method,
      signal: signal ?? null,
      headers: {
        ...(key !== null && { 'x-api-key': key }),
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: text ?? null,
    }
    const response = await app.request(`http://127.0.0.1:8080${url}`, request, peer)
    const answer = await response.text()
    return {
      status: response.status,
      body: answer === '' ? undefined : JSON.parse(answer),
      headers: Object.fromEntries(response.headers),
    }
  }

  return {
    call,
    operatorKey,
    store,
    storage,
    keyring,
    masterKey,
    service,
    notified,
    /** What the outbox holds and has not sent, oldest first: all but what is told about devices, or that alone. */
    messages: async (about: 'devices' | 'others' = 'others'): Promise<Message[]> => {
      const rows = await storage.read((db) =>
        db
          .selectFrom('outbox')
          .where('kind', about === 'devices' ? '=' : '<>', 'device')
          .selectAll()
          .orderBy('id')
          .execute(),
      )
      return rows
        .filter(({ wrapped }) => wrapped !== null)
        .map(({ wrapped, message_id }) => JSON.parse(keyring.unwrap(wrapped!, wrapContext(message_id))))
    },
    /** Resolves when each message that is due has been tried. */
    delivered: outbox.idle,
    outbox,
    app,
    log,
    folder,
    runSql: store.runSql,
    tables: store.tables,
    explain: store.explain,
    /** `keep`: a path to copy the store to, for `from`. */
    close: async (keep?: string): Promise<void> => {
      service.signals.stop()
      await mcp.close()
      await outbox.stop()
      await store.close(keep)
    },
  }
}

export type TestService = Awaited<ReturnType<typeof startTestService>>
