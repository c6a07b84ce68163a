import { createTurnQueue } from '../../../core/turn-queue.ts'
import type { Connection } from './connection.ts'
import { asUnavailable, refused } from './errors.ts'

// A batch of this size does not wait for more jobs.
const fullBatch = 64

// After this long, in milliseconds, a batch begins no further job: until it ends, nothing else runs in this process.
const longestBatch = 25

// After a batch was undone, so many run with savepoints: a client whose writes keep failing then costs the others little.
const batchesWithSavepoints = 16

/** Answers a job, after the commit. */
type Settle = () => void

type Job = { run(): Promise<Settle>; fail(error: unknown): void }

/**
 * Runs jobs one after the other. Jobs that wait at the same time share one transaction and so one fsync; one that fails
 * rolls back alone. A job's promise settles only after the commit. A job may be undone and run again, as `Storage` says.
 */
export const createGroupCommit = (connection: Connection) => {
  const queue = createTurnQueue<Job>()
  let draining: Promise<void> | undefined
  let revision = 0
  let failures = 0
  let committed = 0
  let withSavepoints = 0

  /** Rejects a job, after the writes of the others are committed. */
  const refusalOf = (job: Job, error: unknown): Settle => {
    const reason = asUnavailable(error)
    if (reason !== error) failures += 1
    return () => job.fail(reason)
  }

  const runAlone = async (job: Job): Promise<Settle> => {
    try {
      return await job.run()
    } catch (error) {
      // A full disk makes SQLite roll back the whole transaction: then no job of the batch was kept.
      if (!connection.inTransaction) throw error
      connection.exec('ROLLBACK')
      return refusalOf(job, error)
    }
  }

  /** Runs one of several jobs; the others are kept if it fails. */
  const runWithSavepoint = async (job: Job): Promise<Settle> => {
    connection.exec('SAVEPOINT job')
    let settle: Settle
    try {
      settle = await job.run()
    } catch (error) {
      if (!connection.inTransaction) throw error
      connection.exec('ROLLBACK TO job')
      settle = refusalOf(job, error)
    }
    connection.exec('RELEASE job')
    return settle
  }

  /** The jobs of a batch, one after the other; `batch` gets each. */
  const begin = function* (batch: Job[]) {
    const end = performance.now() + longestBatch
    while (batch.length === 0 || (batch.length < fullBatch && performance.now() < end)) {
      const job = queue.next()
      if (!job) return
      batch.push(job)
      yield job
    }
  }

  /** Without savepoints, with which SQLite copies each page that a job changes. Undefined if a job failed after a write. */
  const runTogether = async (batch: Job[]): Promise<Settle[] | undefined> => {
    const settles: Settle[] = []
    for (const job of begin(batch)) {
      const before = connection.writes
      try {
        settles.push(await job.run())
      } catch (error) {
        if (!connection.inTransaction) throw error
        if (connection.writes !== before) return undefined
        settles.push(refusalOf(job, error))
      }
    }
    return settles
  }

  const runAll = async (batch: Job[]): Promise<Settle[]> => {
    if (queue.size() === 1) {
      batch.push(queue.next()!)
      return [await runAlone(batch[0]!)]
    }
    if (withSavepoints === 0) {
      const settles = await runTogether(batch)
      if (settles) return settles
      connection.exec('ROLLBACK')
      connection.exec('BEGIN IMMEDIATE')
      withSavepoints = batchesWithSavepoints
    }
    withSavepoints -= 1
    const settles: Settle[] = []
    for (const job of batch.length > 0 ? batch : begin(batch)) settles.push(await runWithSavepoint(job))
    return settles
  }

  const commit = async (): Promise<void> => {
    const batch: Job[] = []
    let settles: Settle[]
    try {
      connection.exec('BEGIN IMMEDIATE')
      settles = await runAll(batch)
      if (connection.inTransaction) connection.exec('COMMIT')
    } catch (error) {
      failures += 1
      if (connection.inTransaction) connection.exec('ROLLBACK')
      // Those that wait would fail in the same way.
      for (let job = queue.next(); job; job = queue.next()) batch.push(job)
      for (const job of batch) job.fail(refused(error))
      return
    } finally {
      revision += 1
    }
    committed += settles.length
    for (const settle of settles) settle()
  }

  const drain = async (): Promise<void> => {
    while (queue.size() > 0) {
      // Waits as long as each turn of the event loop brings more jobs, so that concurrent requests share a commit.
      for (let seen = 0; queue.size() > seen && seen < fullBatch;) {
        seen = queue.size()
        await new Promise((resolve) => setImmediate(resolve))
      }
      await commit()
    }
    draining = undefined
  }

  return {
    /** `of`: the organization that the work is for. */
    run: <T>(work: () => Promise<T>, of?: number | null): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        queue.add(of, {
          run: async () => {
            const result = await work()
            return () => resolve(result)
          },
          fail: reject,
        })
        draining ??= drain()
      }),
    revision: (): number => revision,
    /** The number of writes in all commits. */
    committed: (): number => committed,
    /** The number of writes that the store refused. */
    failures: (): number => failures,
    /** Resolves when the queue is empty. */
    idle: (): Promise<void> => draining ?? Promise.resolve(),
  }
}
