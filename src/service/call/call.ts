import type { Operations } from '../../contract/operation.ts'
import type { OperationId } from '../../contract/table.ts'
import type { Counted } from '../../contract/quotas.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Db } from '../storage/schema.ts'
import type { Wake } from './signals/signals.ts'
import type { Caller } from './caller.ts'
import type { Keyring } from './keyring.ts'
import type { Message } from './message.ts'
import type { Preconditions } from './preconditions.ts'
import type { RowData, RowInput } from './row-ids.ts'
import type { Service } from './service.ts'

/** People of whom `need` must approve a call: the members of a group, or those whom a rule names. */
export type RequiredLine = {
  members: readonly number[]
  need: number
  group: { id: number; name: string } | null
  rules: string[]
  /** Nobody who can be behind the caller counts. False of a consent: who is signed in signs what they do themselves. */
  separated: boolean
}

/** Who must approve a call in an organization, and the rules that say so, with the digest of each. */
export type Requirement = {
  orgId: number
  lines: readonly RequiredLine[]
  rules: readonly { name: string; digest: string }[]
  /** The names of those that hold the call, so that their terms count. The call weakens the others. */
  holding: readonly string[]
}

/** A row of a list by time. */
export type PlaceInTime = { key: number; at: string }

/** At most `limit` rows of a list. */
export type Page = {
  limit: number
  /** In a list by id: only rows after this one. */
  after: number
  /** In a list by time: only rows before this one. */
  before?: PlaceInTime
}

/** Everything that a handler can use in addition to its input. */
export type Call = {
  service: Service
  /** In an operation that writes: inside its transaction. */
  db: Db
  /** Of the service: rows are read and written with it. */
  keyring: Keyring
  caller: Caller
  /** The client's address, if it is known. */
  ip?: (() => string | undefined) | undefined
  /** The store's clock, read once for each call. */
  now: string
  /** In an operation that writes. */
  preconditions?: Preconditions | undefined
  requestId: string
  page: Page
  /**
   * Cuts a list to `page.limit` rows and notes where the next page begins. `rows` are in the order of `key`, and one more than the limit
   * if there are more. `end` is the last row that was looked at, if there may be more after it.
   */
  paged<Row>(rows: Row[], key: (row: Row) => number, end?: number): Row[]
  /** As `paged`, for a list by time, newest first. */
  pagedByTime<Row>(rows: Row[], place: (row: Row) => PlaceInTime, end?: PlaceInTime): Row[]
  /**
   * Appends to the hash chain of an organization (0: the service itself). Every write calls it at least once. The actor
   * defaults to the caller.
   */
  audit(orgId: number, subject: string, changes?: string[], actor?: string): Promise<void>
  /** Demands that these people have approved exactly this call; checked before the transaction commits. */
  demandApproval(requirement: Requirement): void
  /**
   * Wakes the callers that wait for an approval, and its approver's page, after the commit. Without a `request_id`, only the
   * page: the person or their device may no longer be allowed to use it.
   */
  wake(request: Wake): void
  /** Counts `more` rows, which this transaction has added, against a quota. Throws 409 `quota_exceeded` or 429. */
  claim(orgId: number, quota: Counted, more?: number): Promise<void>
  /** Runs after the commit, each function once. */
  afterCommit(effect: () => void): void
  /**
   * Adds a message to the outbox in this transaction; returns its id. Throws 409 `delivery_not_configured` if no adapter
   * serves the channel. The outbox, not this call, reports whether the provider accepted it.
   */
  send(message: Message): Promise<string>
  /** Sets a header of the response; a repeated request does not get it. */
  header(name: string, value: string): void
}

/** Everything that a handler can use before its transaction. */
export type Outside = {
  service: Service
  caller: Caller
  /** Aborted when the client disconnects. */
  signal?: (() => AbortSignal) | undefined
  /** The client's address, if it is known. */
  ip?: (() => string | undefined) | undefined
}

/** The Refusal that was thrown. Throws anything else again. */
export const asRefusal = (error: unknown): Refusal => {
  if (error instanceof Refusal) return error
  throw error
}

/** A Refusal that is thrown undoes the transaction; one that is returned is sent after the commit. */
type Work<D> = (call: Call) => Promise<D | Refusal>

/**
 * A function that runs inside the transaction, or one that runs before it (`before`: waits, verifies, signs) and returns
 * the work for the transaction.
 */
export type Handler<I, D> =
  | ((input: I, call: Call) => Promise<D | Refusal>)
  | { before(input: I, outside: Outside): Promise<Work<D>> }

/** The work of a handler inside a transaction. */
export const prepare = async <I, D>(handler: Handler<I, D>, input: I, outside: Outside): Promise<Work<D>> =>
  typeof handler === 'function' ? (call) => handler(input, call) : handler.before(input, outside)

/** The handler of one operation of the table. */
export type HandlerOf<Id extends OperationId> = Handler<RowInput<Id>, RowData<Id>>

/** One handler for each operation; a missing one does not compile. */
export type Handlers<T extends Operations> = { [Id in keyof T & OperationId]: HandlerOf<Id> }
