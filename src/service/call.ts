import type { Data, Input, Operations } from '../contract/operation.ts'
import type { Keyring } from './keyring.ts'
import type { Db } from './storage/schema.ts'

/** Whose key it is. `orgId` null is an operator. */
export type Caller = { keyId: number; name: string; orgId: number | null }

/** Rows after the id `after`, `limit` at most; without a limit, all. */
export type Page = { limit?: number; after: number }

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
  keyring: Keyring
  page: Page
  /**
   * Answers a list a page at a time: keeps `page.limit` rows and names the next page. Rows come in order of `key`, one
   * more than the limit where there are more.
   */
  paged<Row>(rows: Row[], key: (row: Row) => number): Row[]
  /** Appends to the hash chain of an organization (0: the service itself). Every write calls it at least once. */
  audit(orgId: number, subject: string, changes?: string[]): Promise<void>
}

/** One handler an operation; a missing one does not compile. */
export type Handlers<T extends Operations> = {
  [K in keyof T]: (input: Input<T[K]>, call: Call) => Promise<Data<T[K]>>
}
