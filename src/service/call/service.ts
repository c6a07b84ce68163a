import type { Counted } from '../../contract/quotas.ts'
import type { Policy } from '../../factors/decide.ts'
import type { Network } from '../../factors/network.ts'
import type { Periods } from '../config/retention.ts'
import type { Signals } from './signals/signals.ts'
import type { Db, Tables } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import type { Caller } from './caller.ts'
import type { Keyring } from './keyring.ts'
import type { Channel, Message } from './message.ts'

/** A process of the service, as it reports itself. */
export type NodeReport = Tables['nodes']

/** Notifies an approver of a pending request. Called once, after its commit; a failure does not affect the request. */
export type NotifyApprover = (request: { request_id: string; org_id: number; user_id: number }) => void

/** The committed rules for a user; without a user, those for everybody. */
export type FactorsMemory = (orgId: number, userId?: number) => Promise<Policy>

/** A transaction and its time. */
export type Moment = { db: Db; now: string }

/**
 * Counts the rows that a transaction has just added. Throws a Refusal, which undoes it, if they exceed the quota. `registers`: a
 * text message that registers a phone, for which some are reserved.
 */
export type Claim = (
  moment: Moment,
  orgId: number,
  quota: Counted,
  more?: number,
  registers?: boolean,
) => Promise<void>

/** Stores a message for the outbox in the current transaction; returns its id. Throws a Refusal. */
export type Accept = (moment: Moment, message: Message) => Promise<string>

export type Rate = {
  /**
   * Counts a request; returns the headers that tell a client how much is left. Throws 429 `rate_limited`. `changesMany`: it can
   * change many objects.
   */
  count(caller: Caller, changesMany?: boolean): Record<string, string> | Promise<Record<string, string>>
  /** Counts further requests after that one, whose work is that of so many. */
  add(caller: Caller, requests: number): void
}

/** The price of a stock at one time. */
export type Quote = {
  symbol: string
  name: string
  /** As `readPrice` writes it: no separators, two decimals. */
  price: string
  exchange: string
  /** ISO 8601 in UTC. */
  as_of: string
}

/** A quote as the API returns it; `stale` if the provider fails and this is its last known price. */
export type QuoteResult = Quote & { stale: boolean; source: 'sample' | 'http' }

/** Undefined for a stock that the provider does not know. Throws 409 `quotes_unavailable`. */
export type Quotes = { find(nameOrSymbol: string): Promise<QuoteResult | undefined> }

/** The parts that exist as long as the service runs. */
export type Service = {
  storage: Storage
  keyring: Keyring
  /** The address of the service for people and clients, without a slash at the end. */
  publicUrl: string
  /** `svc serve --dev`: software authenticators count. */
  dev: boolean
  /** Private networks that webhooks may reach. */
  webhookNetworks: readonly Network[]
  /** How a first device proves its owner, unless the organization sets it. */
  deviceProof: 'link' | 'otp'
  signals: Signals
  /** This process and its load. */
  node(): NodeReport
  factorsFor: FactorsMemory
  periods: Periods
  /** Counts against the quotas of organizations. */
  claim: Claim
  accept: Accept
  /** Counts the requests of callers. */
  rate: Rate
  notifyApprover: NotifyApprover
  /** Stock prices; never used inside a transaction. */
  quotes: Quotes
  /** The channels by which messages can be sent. */
  channels: ReadonlySet<Channel>
  /** Those of them whose messages only go to the log, with --dev. */
  loggedChannels: ReadonlySet<Channel>
  /** Sends what is due in the outbox, after a commit that added a message. */
  deliver(): void
  /** The recipient of `/contact/support`. */
  supportEmail?: string | undefined
  /** VAPID, base64url; null if the service sends no push messages. */
  pushKey: string | null
}
