import type { Db } from './schema.ts'

/** `org`: whose audit the write appends to; 0 is the service itself. */
export type WriteOptions = { org: number }

/** The store, whichever engine keeps it. Nothing but SQL is awaited inside `read` and `write`. */
export type Storage = {
  /** Runs on a connection of its own that sees what is committed. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * All of `work` or nothing of it; resolves only after its commit is on the disk. Writes of one organization run one after
   * the other. An engine may undo `work` and run it again: what it does besides SQL is done by whoever awaits the result.
   */
  write<T>(work: (db: Db) => Promise<T>, options: WriteOptions): Promise<T>
  /** Changes with every commit: what was read holds for as long as this stays the same. */
  revision(): number
  /** Whether a write would reach the disk now. Tries one, though not at each call. */
  canWrite(): Promise<boolean>
  /** The store's clock: ISO 8601, UTC, milliseconds. */
  now(): string
  close(): Promise<void>
}
