import type { Operation, Operations } from '../../contract/operation.ts'
import type { Counted } from '../../contract/quotas.ts'
import type { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import type { Caller } from './caller.ts'
import type { Keyring } from './keyring.ts'
import type { Channel, Message } from './message.ts'
import type { RowData, RowInput } from './row-ids.ts'
import type { Ring, Service, Waited } from './service.ts'

/** Of whom one must approve a call, and in which organization. */
export type Requirement = { orgId: number; approvers: readonly number[] }

/** `limit` rows at most; without a limit, all. */
export type Page = {
  limit?: number
  /** In a list by id: only rows after this one. */
  after: number
  /** In a list by time: only rows before this one. */
  before?: { key: number; at: string }
  /** In a list by time: only rows with a greater key, and those that have changed since. */
  newer?: { key: number; since: string }
}

/** All that a handler may touch besides its input. */
export type Call = {
  /** For an operation that writes: inside its transaction. */
  db: Db
  caller: Caller
  /** The store's clock, once a call. */
  now: string
  requestId: string
  /** Where people and clients reach this service, without a slash at the end. */
  publicUrl: string
  /** Software authenticators count. */
  dev: boolean
  /** What a first device proves where its organization does not say. */
  deviceProof: 'link' | 'otp'
  keyring: Keyring
  /** With which push services know this service; null where nothing is pushed. */
  pushKey: string | null
  page: Page
  /**
   * Answers a list a page at a time: keeps `page.limit` rows and names the next page. Rows come in order of `key`, one
   * more than the limit where there are more.
   */
  paged<Row>(rows: Row[], key: (row: Row) => number): Row[]
  /** As `paged`, for a list by time, newest first; also names where its reader learns of what is new. */
  pagedByTime<Row>(rows: Row[], place: (row: Row) => { key: number; at: string }): Row[]
  /**
   * Appends to the hash chain of an organization (0: the service itself). Every write calls it at least once. The actor
   * is the caller when left out.
   */
  audit(orgId: number, subject: string, changes?: string[], actor?: string): Promise<void>
  /** Demands that one of these users has approved this very call; checked before the transaction commits. */
  demandApproval(requirement: Requirement): void
  /**
   * Wakes who waits for a request for approval, and its approver's page, once the transaction is committed. Without a
   * `request_id` the page alone: the person or their device may have lost their place.
   */
  wake(request: Waited): void
  /** Counts `more` rows, which this transaction has added, against a quota. Throws 409 `quota_exceeded` or 429. */
  claim(orgId: number, quota: Counted, more?: number): Promise<void>
  /** Rings the phone, once the transaction is committed. */
  ring: Ring
  /** Whether a message of this channel can be sent at all. */
  canSend(channel: Channel): boolean
  /**
   * Accepts a message for the outbox, in this transaction; answers its id. Fails with 409 `delivery_not_configured`
   * where no adapter serves the channel. What a provider says is told by the outbox, never by this call.
   */
  send(message: Message): Promise<string>
  /** Looks into the outbox once the transaction is committed; `send` does so itself. */
  deliver(): void
  /** A header of the answer; a repeat does not get it. */
  header(name: string, value: string): void
}

/** What a handler works with before its transaction. */
export type Outside = {
  service: Service
  caller: Caller
  /** Aborted when the client has gone. */
  signal?: (() => AbortSignal) | undefined
  /** The client's address; undefined when nobody knows. */
  ip?: (() => string | undefined) | undefined
}

/** A Refusal that is thrown undoes everything; one that is returned is answered after the commit. */
type Work<D> = (call: Call) => Promise<D | Refusal>

/**
 * A function of the input, inside the transaction; or what first works outside of it (`before`: waits, verifies, signs)
 * and answers what is to be done inside.
 */
export type Handler<I, D> =
  | ((input: I, call: Call) => Promise<D | Refusal>)
  | { before(input: I, outside: Outside): Promise<Work<D>> }

/** The work of a handler inside a transaction. */
export const prepare = async <I, D>(handler: Handler<I, D>, input: I, outside: Outside): Promise<Work<D>> =>
  typeof handler === 'function' ? (call) => handler(input, call) : handler.before(input, outside)

/** The handler of one operation of the table. */
export type HandlerOf<O extends Operation> = Handler<RowInput<O>, RowData<O>>

/** One handler an operation; a missing one does not compile. */
export type Handlers<T extends Operations> = { [K in keyof T]: HandlerOf<T[K]> }
