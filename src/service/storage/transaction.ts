import type { SelectQueryBuilder } from 'kysely'
import type { Db, Tables } from './schema.ts'

/** The last row of an audit. */
export type AuditHead = Pick<Tables['audit'], (typeof headColumns)[number]>
export const headColumns = [
  'seq',
  'hash',
  'at',
  'rules',
  'newest_key',
  'newest_user',
  'newest_device',
  'row_mac',
] as const satisfies (keyof Tables['audit'])[]

/** What an engine does in a transaction in addition to SQL. */
export type Transaction = {
  /** Whether other transactions may run at the same time. */
  shared: boolean
  /** The last row of the audit of an organization. Throws RunAgain without the lock of that organization. */
  head(org: number): AuditHead | undefined
  /**
   * Notes a row that this transaction appends to an audit: it exists only if the transaction was committed. `added` is its
   * statement. Resolves when the caller may go on, which may be before the statement has run.
   */
  append(org: number, head: AuditHead, added: Promise<unknown>): Promise<unknown>
  /** Waits until no other transaction writes to the organization. False if this one had its lock. */
  lock(org: number): Promise<boolean>
  /** Waits until no other transaction creates or erases the people with these numbers, which are sorted. */
  lockNumbers(mobiles: readonly string[]): Promise<void>
}

/** Thrown in a write: undoes it and runs it again, with the lock of `org` before its first statement if that is set. */
export class RunAgain extends Error {
  override readonly name = 'RunAgain'
  readonly org: number | undefined
  constructor(org?: number) {
    super('the write has to run again')
    this.org = org
  }
}

const transactions = new WeakMap<object, Transaction>()

/** For an engine: names the transaction that runs on `db` from now on. */
export const startTransaction = (db: Db, transaction: Transaction): void =>
  void transactions.set(db.getExecutor(), transaction)

/** The transaction that runs on `db`; undefined in a read. */
export const findTransaction = (db: Db): Transaction | undefined => transactions.get(db.getExecutor())

export const transactionOf = (db: Db): Transaction => {
  const transaction = findTransaction(db)
  if (!transaction) throw new Error('not in a transaction')
  return transaction
}

/** Whether other transactions may run at the same time as that of `db`. */
export const isShared = (db: Db): boolean => transactionOf(db).shared

/**
 * Waits for the locks of further organizations. What was read of them before may have changed if it returns true: read it
 * again, or change it with conditional statements only.
 */
export const lockOrganizations = async (db: Db, orgs: Iterable<number>): Promise<boolean> => {
  const transaction = transactionOf(db)
  if (!transaction.shared) return false
  let locked = false
  for (const org of [...new Set(orgs)].sort((a, b) => a - b)) locked = (await transaction.lock(org)) || locked
  return locked
}

/**
 * Waits until no other transaction creates or erases the people with these numbers, because people belong to no organization.
 * After the locks of organizations. What was read of these people before may have changed if it returns true.
 */
export const lockNumbers = async (db: Db, mobiles: Iterable<string>): Promise<boolean> => {
  const transaction = transactionOf(db)
  if (!transaction.shared) return false
  await transaction.lockNumbers([...new Set(mobiles)].sort())
  return true
}

/** Leaves out rows that another transaction is changing, instead of waiting for it. */
export const skipLocked = <O>(
  db: Db,
  query: SelectQueryBuilder<Tables, 'outbox', O>,
): SelectQueryBuilder<Tables, 'outbox', O> => (isShared(db) ? query.forUpdate().skipLocked() : query)
