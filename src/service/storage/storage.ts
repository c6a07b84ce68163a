import { Refusal } from '../../core/refusal.ts'
import type { NodeMessage } from './node-message.ts'
import type { Replication } from './postgres/facts.ts'
import type { Db } from './schema.ts'

export type WriteOptions<O> = {
  /**
   * The organization whose audit the write appends to; 0 is the service itself. Null for a write without an audit, which waits
   * for no organization: each of its statements must be right beside any other write.
   */
  org: number | null
  /** Changes nothing that `recentRevision` covers: no key, no organization and no limit. */
  routine?: boolean
  /** Reads what the work starts from. An engine can send it together with the lock of the organization. */
  opening?: (db: Db) => Promise<O>
}

export const storeProblems = ['storage_unavailable', 'store_damaged'] as const
export type StoreProblem = (typeof storeProblems)[number]

/** The store, with any engine. Inside `read` and `write`, only SQL may be awaited. */
export type Storage = {
  /** Runs on a separate connection that sees only committed data. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Commits all of `work` or nothing; resolves only after the commit is on the disk. Writes of one organization run one after
   * the other. An engine may undo `work` and run it again, so the caller does everything but SQL after the result.
   */
  write<T, O = undefined>(work: (db: Db, opened: O) => Promise<T>, options: WriteOptions<O>): Promise<T>
  /**
   * Changes with every commit: data that was read is current as long as this stays the same. When other nodes can write, it
   * changes at every call.
   */
  revision(): number
  /**
   * As `revision`, but commits of other nodes and routine writes may be missed for up to a second. For what may be that old:
   * keys and limits.
   */
  recentRevision(): number
  /** Why a write would not reach the disk now; undefined if it would. Tries one, but not at each call. */
  problem(): Promise<StoreProblem | undefined>
  /** Writes that were committed since the start; connections that are in use and the most there are, 0 without a pool. */
  load(): { writes: number; connections: number; connections_limit: number }
  /** What the database said lately about its replication; undefined for an embedded store. */
  replication(): Replication | undefined
  /** The store's clock: ISO 8601, UTC, milliseconds. */
  now(): string
  /** Whether other nodes use the same store. */
  readonly shared: boolean
  /** Sends a message to the other nodes after the commit that it is about. It may be lost. */
  publish(message: NodeMessage): void
  /** Receives the messages of the other nodes; `lost` if some may be lost. */
  subscribe(receive: (message: NodeMessage) => void): void
  close(): Promise<void>
}

/** Runs `work` on a store, and closes it. */
export const useStorage = async <T>(storage: Storage, work: (storage: Storage) => Promise<T>): Promise<T> => {
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** A store that cannot be used right now, with nothing wrong with the request. Each engine decides which errors mean that. */
export const unavailable = (cause: unknown, hint: string): Refusal =>
  new Refusal(503, 'storage_unavailable', 'The store is temporarily unavailable; nothing was changed', {
    hint,
    cause,
  })
