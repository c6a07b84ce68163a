import { unavailable } from '../unavailable.ts'
import type { Connection } from './connection.ts'
import { asUnavailable } from './errors.ts'

// Nobody waits longer than it takes so many to arrive.
const fullBatch = 64

type Job = { run(): Promise<void>; settle(): void; fail(error: unknown): void }

/**
 * Runs jobs one after the other; those that wait at the same time share one transaction and so one fsync. Each of
 * several has a savepoint of its own: one that fails rolls back alone. A job's promise settles only after the commit.
 */
export const createGroupCommit = (connection: Connection) => {
  let queue: Job[] = []
  let draining: Promise<void> | undefined
  let revision = 0
  let failures = 0

  /** Tells a job why it failed, once what others wrote is committed. */
  const refuse = (job: Job, error: unknown): void => {
    const reason = asUnavailable(error)
    if (reason !== error) failures += 1
    job.settle = () => job.fail(reason)
  }

  /** A job among others, which are kept when it fails. */
  const attempt = async (job: Job): Promise<void> => {
    connection.exec('SAVEPOINT job')
    try {
      await job.run()
    } catch (error) {
      // A full disk rolls the whole transaction back by itself: then no job of the batch was kept.
      if (!connection.inTransaction) throw error
      connection.exec('ROLLBACK TO job')
      refuse(job, error)
    }
    connection.exec('RELEASE job')
  }

  /** A job alone needs no savepoint. Answers whether there is something to commit. */
  const attemptAlone = async (job: Job): Promise<boolean> => {
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
    if (batch.length === 1) return attemptAlone(batch[0]!)
    for (const job of batch) await attempt(job)
    return true
  }

  const commit = async (batch: Job[]): Promise<void> => {
    try {
      connection.exec('BEGIN IMMEDIATE')
      if (await runAll(batch)) connection.exec('COMMIT')
    } catch (error) {
      failures += 1
      if (connection.inTransaction) connection.exec('ROLLBACK')
      for (const job of batch) job.fail(unavailable(error))
      return
    } finally {
      revision += 1
    }
    for (const job of batch) job.settle()
  }

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      // Requests that arrive together are committed together: for as long as each turn of the event loop brings more.
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
    /** Counts the writes that the store refused, whatever was wrong with it. */
    failures: (): number => failures,
    /** Resolves when nothing waits to be written. */
    idle: (): Promise<void> => draining ?? Promise.resolve(),
  }
}
