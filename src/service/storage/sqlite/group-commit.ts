import type { Connection } from './connection.ts'
import { asUnavailable, refused } from './errors.ts'

// A batch of this size does not wait for more jobs.
const fullBatch = 64

type Job = { run(): Promise<void>; settle(): void; fail(error: unknown): void }

/**
 * Runs jobs one after the other. Jobs that wait at the same time share one transaction and so one fsync; each then has its
 * own savepoint, so that one that fails rolls back alone. A job's promise settles only after the commit.
 */
export const createGroupCommit = (connection: Connection) => {
  let queue: Job[] = []
  let draining: Promise<void> | undefined
  let revision = 0
  let failures = 0

  /** Rejects a job, after the writes of the others are committed. */
  const refuse = (job: Job, error: unknown): void => {
    const reason = asUnavailable(error)
    if (reason !== error) failures += 1
    job.settle = () => job.fail(reason)
  }

  /** Runs one of several jobs; the others are kept if it fails. */
  const runWithSavepoint = async (job: Job): Promise<void> => {
    connection.exec('SAVEPOINT job')
    try {
      await job.run()
    } catch (error) {
      // A full disk makes SQLite roll back the whole transaction: then no job of the batch was kept.
      if (!connection.inTransaction) throw error
      connection.exec('ROLLBACK TO job')
      refuse(job, error)
    }
    connection.exec('RELEASE job')
  }

  /** A single job needs no savepoint. Returns whether there is something to commit. */
  const runAlone = async (job: Job): Promise<boolean> => {
    try {
      await job.run()
      return true
    } catch (error) {
      if (!connection.inTransaction) throw error
      connection.exec('ROLLBACK')
      refuse(job, error)
      return false
    }
  }

  const runAll = async (batch: Job[]): Promise<boolean> => {
    if (batch.length === 1) return runAlone(batch[0]!)
    for (const job of batch) await runWithSavepoint(job)
    return true
  }

  const commit = async (batch: Job[]): Promise<void> => {
    try {
      connection.exec('BEGIN IMMEDIATE')
      if (await runAll(batch)) connection.exec('COMMIT')
    } catch (error) {
      failures += 1
      if (connection.inTransaction) connection.exec('ROLLBACK')
      for (const job of batch) job.fail(refused(error))
      return
    } finally {
      revision += 1
    }
    for (const job of batch) job.settle()
  }

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      // Waits as long as each turn of the event loop brings more jobs, so that concurrent requests share a commit.
      for (let seen = 0; queue.length > seen && seen < fullBatch;) {
        seen = queue.length
        await new Promise((resolve) => setImmediate(resolve))
      }
      const batch = queue
      queue = []
      await commit(batch)
    }
    draining = undefined
  }

  return {
    run: <T>(work: () => Promise<T>): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        let result: T
        queue.push({
          run: async () => {
            result = await work()
          },
          settle: () => resolve(result),
          fail: reject,
        })
        draining ??= drain()
      }),
    revision: (): number => revision,
    /** The number of writes that the store refused. */
    failures: (): number => failures,
    /** Resolves when the queue is empty. */
    idle: (): Promise<void> => draining ?? Promise.resolve(),
  }
}
