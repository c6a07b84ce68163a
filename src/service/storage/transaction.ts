import type { Db } from './schema.ts'

/** The last row of an audit; `at` is its time. */
export type AuditHead = { seq: number; hash: string; at: string }

/** What an engine with several writers does in a transaction in addition to SQL. */
export type Transaction = {
  /** Waits until no other transaction writes to the organization; returns the last row of its audit. */
  head(org: number): Promise<AuditHead | undefined>
  /** Notes a row that this transaction has appended to an audit: it exists only if the transaction was committed. */
  appended(org: number, head: AuditHead): void
}

const transactions = new WeakMap<object, Transaction>()

/** For an engine with several writers: names the transaction that runs on `db` from now on. */
export const startTransaction = (db: Db, transaction: Transaction): void =>
  void transactions.set(db.getExecutor(), transaction)

/** The transaction of `db`; undefined for an engine with one writer. */
export const transactionOf = (db: Db): Transaction | undefined => transactions.get(db.getExecutor())
