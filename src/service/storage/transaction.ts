import type { Db } from './schema.ts'

/** The place of a row in the audit, by which a commit whose answer was lost is found again. */
export type AuditPlace = { org_id: number; seq: number; hash: string }

/** What an engine with several writers does in a transaction in addition to SQL. */
export type Transaction = {
  /** Waits until no other transaction writes to the organization. */
  lock(org: number): Promise<void>
  /** Notes a row that exists only if the transaction was committed. */
  appended(place: AuditPlace): void
}

const transactions = new WeakMap<object, Transaction>()

/** For an engine with several writers: names the transaction that runs on `db` from now on. */
export const startTransaction = (db: Db, transaction: Transaction): void =>
  void transactions.set(db.getExecutor(), transaction)

/** The transaction of `db`; undefined for an engine with one writer. */
export const transactionOf = (db: Db): Transaction | undefined => transactions.get(db.getExecutor())
