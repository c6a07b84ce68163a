import type { Counted } from '../../contract/quotas.ts'
import type { Policy } from '../../rules/decide.ts'
import type { Periods } from '../config/retention.ts'
import type { Db } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import type { Caller } from './caller.ts'
import type { Keyring } from './keyring.ts'
import type { Channel, Message } from './message.ts'

/** What tells a request and whose it is; without `request_id`, a person whose page may be over. */
export type Waited = { request_id?: string; org_id: number; user_id: number }

export type DecisionWaiter = {
  /** From now on a wake of this request or inbox is not missed; `woken` resolves then, or when all are let go. */
  listen(name: string): { woken: Promise<void>; close(): void }
  /** Wakes who waits for a request, if it is one, and its approver's page. */
  wake(request: Waited): void
  /** Lets everybody go, now and from now on: the service stops. */
  stop(): void
  readonly stopped: boolean
}

/** Tells an approver that a request waits. Called once a request, after its commit; it never fails the request. */
export type Ring = (request: Required<Waited>) => void

/** All that is enforced for a user as it is committed now; without a user, what is enforced for everybody. */
export type RulesMemory = (orgId: number, userId?: number) => Promise<Policy>

/** A transaction and its time. */
export type Moment = { db: Db; now: string }

/** Counts what a transaction has just added. Throws a Refusal, which undoes it, when there is too much now. */
export type Claim = (moment: Moment, orgId: number, quota: Counted, more?: number) => Promise<void>

/** Keeps a message for the outbox in the transaction that accepts it; answers its id. Fails with a Refusal. */
export type Accept = (moment: Moment, message: Message) => Promise<string>

/** Counts a request; answers the headers that tell a client how much is left. Fails with 429 `rate_limited`. */
export type Rate = (caller: Caller) => Record<string, string> | Promise<Record<string, string>>

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

/** A quote as it is told: `stale` when the provider fails and this is the last that it said. */
export type ToldQuote = Quote & { stale: boolean; source: 'sample' | 'file' | 'http' }

/** Undefined for a stock that the provider does not know. Fails with 409 `quotes_unavailable`. */
export type Quotes = { find(nameOrSymbol: string): Promise<ToldQuote | undefined> }

/** What lives as long as the service does. */
export type Service = {
  storage: Storage
  keyring: Keyring
  /** Where people and clients reach the service, without a slash at the end. */
  publicUrl: string
  /** `svc serve --dev`: software authenticators count. */
  dev: boolean
  /** What a first device proves where its organization does not say. */
  deviceProof: 'link' | 'otp'
  waiter: DecisionWaiter
  rulesFor: RulesMemory
  /** How long what is kept. */
  periods: Periods
  /** Counts against the quotas of organizations. */
  claim: Claim
  accept: Accept
  /** Counts the requests of callers. */
  rate: Rate
  ring: Ring
  /** Stock prices; asked outside of transactions. */
  quotes: Quotes
  /** By what messages go out. */
  channels: ReadonlySet<Channel>
  /** Looks into the outbox now: something was put there and is committed. */
  deliver(): void
  /** Where `/contact/support` goes. */
  supportEmail?: string | undefined
  /** VAPID, base64url; null where nothing is pushed. */
  pushKey: string | null
}
