import { RunAgain } from '../transaction.ts'
import { control, unawaited } from './connection.ts'
import {
  createTransactions,
  type LockedWork,
  type Open,
  type TransactionOptions,
} from './open-transaction.ts'
import { asUnavailable, isConflict, isConnectionLost } from './errors.ts'

/** Jobs that share a transaction, and how long it takes new ones, in milliseconds. */
const jobsAtMost = 32
const openForMs = 10
/** How often a job runs again after a deadlock with another organization. */
const attemptsAtMost = 5

type Job = LockedWork & {
  resolve(result: unknown): void
  reject(error: unknown): void
  attempts: number
}

/** The organization of a lane; null for writes that lock none. */
type Org = number | null

/** `hadConflict`: another transaction undid a job. */
type Ran = { done: Done[]; again: Job[]; moved: Job[]; hadConflict: boolean }

type Done = { job: Job; result: unknown }

/**
 * Runs jobs in transactions that first lock their organization. On this node an organization has one open transaction at a
 * time; jobs that waited for it share the next one. So an organization with many writes takes one connection, not all.
 */
export const createLanes = (options: TransactionOptions) => {
  const { begin, commit } = createTransactions(options)
  const waiting = new Map<Org, Job[]>()
  const lanes = new Set<Promise<void>>()
  let failures = 0
  let committed = 0

  const refused = (error: unknown): unknown => {
    const reason = asUnavailable(error)
    if (reason !== error) failures += 1
    return reason
  }

  /**
   * Runs the jobs in an open transaction, each with a savepoint if there are several, and rejects those that fail. `again`
   * are those that have to run in another transaction, `moved` those that have to run in another lane.
   */
  const runAll = async (open: Open, jobs: Job[]): Promise<Ran> => {
    const { client } = open
    const done: Done[] = []
    const again: Job[] = []
    const moved: Job[] = []
    let hadConflict = false
    const alone = jobs.length === 1
    const until = performance.now() + openForMs
    for (const [n, job] of jobs.entries()) {
      if (n > 0 && performance.now() > until) {
        again.push(...jobs.slice(n))
        break
      }
      try {
        job.attempts += 1
        if (!alone) unawaited(client.query(control.savepoint))
        const { result, keep } = await open.run(job)
        if (!alone) unawaited(client.query(control.release))
        keep()
        done.push({ job, result })
      } catch (error) {
        if (isConnectionLost(error)) throw error
        await client.query(alone ? 'rollback' : 'rollback to job; release job')
        hadConflict ||= isConflict(error)
        const mayRepeat = job.attempts < attemptsAtMost
        if (mayRepeat && error instanceof RunAgain && error.org !== undefined) {
          job.orgs.add(error.org)
          moved.push(job)
        } else if (mayRepeat && (isConflict(error) || error instanceof RunAgain)) again.push(job)
        else job.reject(refused(error))
      }
    }
    return { done, again, moved, hadConflict }
  }

  /** Returns the jobs that have to run again. */
  const runBatch = async (org: Org, jobs: Job[]): Promise<Job[]> => {
    let open: Open | undefined
    let unsettled = jobs
    try {
      open = await begin(org, jobs[0])
      const { done, again, moved, hadConflict } = await runAll(open, jobs)
      for (const job of moved) enqueue(job, Math.min(...job.orgs))
      unsettled = [...done.map(({ job }) => job), ...again]
      if (done.length > 0) await commit(open)
      // The only job of a transaction has already undone it.
      else if (jobs.length > 1) await open.client.query('rollback')
      // After a conflict it may hold statements that were prepared for an older schema.
      open.client.release(hadConflict)
      committed += done.length
      for (const { job, result } of done) job.resolve(result)
      return again
    } catch (error) {
      open?.client.release(true)
      const reason = refused(error)
      for (const job of unsettled) job.reject(reason)
      return []
    }
  }

  const runLane = async (org: Org, queue: Job[]): Promise<void> => {
    while (queue.length > 0) queue.unshift(...(await runBatch(org, queue.splice(0, jobsAtMost))))
    waiting.delete(org)
  }

  const enqueue = (job: Job, org: Org): void => {
    const queue = waiting.get(org)
    if (queue) return void queue.push(job)
    const jobs = [job]
    waiting.set(org, jobs)
    const lane = runLane(org, jobs).finally(() => lanes.delete(lane))
    lanes.add(lane)
  }

  return {
    run: (work: LockedWork['work'], org: Org, opening: LockedWork['opening']): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const orgs = new Set(org === null ? [] : [org])
        enqueue({ work, opening, resolve, reject, attempts: 0, orgs }, org)
      }),
    /** The number of writes that the database refused. */
    failures: (): number => failures,
    /** The number of writes that were committed. */
    committed: (): number => committed,
    /** Resolves when no job waits or runs. */
    idle: async (): Promise<void> => {
      while (lanes.size > 0) await Promise.all(lanes)
    },
  }
}
