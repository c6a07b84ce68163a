import { asUnavailable, isConflict, isConnectionLost, isLockTimeout } from './errors.ts'
import { control, limits, unawaited } from './connection.ts'
import {
  createTransactions,
  type LockedWork,
  type Open,
  type TransactionOptions,
} from './open-transaction.ts'
import { Refusal } from '../../../core/refusal.ts'
import { RunAgain } from '../transaction.ts'

/** The organizations and jobs that share a transaction. */
const organizationsAtMost = 16
const jobsAtMost = 32
/** How long a transaction starts jobs: in milliseconds, and in times of its first job, which tells how far the database is. */
const openForMs = 10
const openForJobs = 8
/** How often a job runs again after a conflict with another transaction. */
const attemptsAtMost = 5

/** The organization of a lane; null for writes that lock none. */
type Org = number | null

type Job = LockedWork & {
  lane: Org
  resolve(result: unknown): void
  reject(error: unknown): void
  attempts: number
  /** When it was enqueued, milliseconds. */
  since: number
  /** Runs in a transaction of its own, because it failed in one that it shared. */
  alone: boolean
}

type Done = { job: Job; result: unknown }
type Failed = { job: Job; error: unknown }

/** `again` are jobs that have to run in another transaction; `hadConflict`: another transaction undid a job. */
type Ran = { done: Done[]; failed: Failed[]; again: Job[]; hadConflict: boolean }

/**
 * Whether a job has waited for a lock that another job did not get. Each would wait as long again, one after the other, so it is
 * refused with the other.
 */
const isLate = ({ since }: Job): boolean => performance.now() - since >= limits.lock_timeout

/** Whether a failure may concern only one of several organizations, so that the others can go on without it. */
const mayConcernOne = (error: unknown): boolean => !isConnectionLost(error) && !(error instanceof Refusal)

/**
 * Runs jobs in transactions that first lock their organizations. On this node an organization has one open transaction at a
 * time; jobs that waited for it share the next one, so many writes of one organization take one connection. If more
 * organizations wait than there are connections, several share a transaction, which saves commits and round trips.
 */
export const createLanes = (options: TransactionOptions & { connections: number }) => {
  const { begin, commit } = createTransactions(options)
  /** Jobs of organizations without an open transaction: first the organization that has waited longest. */
  const ready = new Map<Org, Job[]>()
  /** Jobs that wait for the open transaction of their organization to end. */
  const held = new Map<Org, Job[]>()
  /** Organizations that another node had. Their next transaction is their own, because it waits for them. */
  const elsewhere = new Set<Org>()
  const workers = new Set<Promise<void>>()
  /** Workers that look at `ready` once more. The promise of a worker ends later, and a write must not be missed in between. */
  let looking = 0
  let failures = 0
  let committed = 0

  const refused = (error: unknown): unknown => {
    const reason = asUnavailable(error)
    if (reason !== error) failures += 1
    return reason
  }

  /** Takes the jobs of the next transaction, and holds the others of their organizations. */
  const take = (): Job[] => {
    const share = Math.min(organizationsAtMost, Math.ceil(ready.size / options.connections))
    const jobs: Job[] = []
    let organizations = 0
    for (const [org, queue] of ready) {
      if (organizations === share) break
      const alone = org === null || queue[0]!.alone || elsewhere.has(org)
      if (alone && jobs.length > 0) continue
      elsewhere.delete(org)
      const next = queue.findIndex((job, at) => at > 0 && job.alone)
      const most = queue[0]!.alone ? 1 : Math.floor(jobsAtMost / (alone ? 1 : share))
      jobs.push(...queue.splice(0, next > 0 ? Math.min(next, most) : most))
      ready.delete(org)
      held.set(org, queue)
      organizations += 1
      if (alone) break
    }
    return jobs
  }

  /**
   * Runs the jobs in an open transaction, each with a savepoint if there are several. None is answered before the end of the
   * transaction: a job may be refused because of what an earlier one has done, and all run again if the transaction fails.
   */
  const runAll = async (open: Open, jobs: Job[]): Promise<Ran> => {
    const { client } = open
    const done: Done[] = []
    const failed: Failed[] = []
    const again: Job[] = []
    const kept: Promise<unknown>[] = []
    let hadConflict = false
    const single = jobs.length === 1
    const began = performance.now()
    let until = Number.POSITIVE_INFINITY
    for (const [n, job] of jobs.entries()) {
      if (n === 1) until = began + Math.max(openForMs, openForJobs * (performance.now() - began))
      if (performance.now() > until) {
        again.push(...jobs.slice(n))
        break
      }
      if (!open.has(job)) {
        elsewhere.add(job.lane)
        again.push(job)
        continue
      }
      try {
        job.attempts += 1
        if (!single) unawaited(client.query(control.savepoint))
        const { result, keep } = await open.run(job)
        if (!single) {
          const released = client.query(control.release)
          unawaited(released)
          kept.push(released)
        }
        keep()
        done.push({ job, result })
      } catch (thrown) {
        const error = await open.cause(thrown)
        if (isConnectionLost(error)) throw error
        await client.query(single ? 'rollback' : 'rollback to job; release job')
        // If a statement of an earlier job failed after its end, this has undone that job too.
        await Promise.all(kept)
        hadConflict ||= isConflict(error)
        if (job.attempts < attemptsAtMost && (isConflict(error) || error instanceof RunAgain)) {
          if (error instanceof RunAgain && error.org !== undefined) job.orgs.add(error.org)
          job.alone = true
          again.push(job)
        } else failed.push({ job, error })
        if (isLockTimeout(error)) {
          const rest = jobs.slice(n + 1)
          for (const other of rest)
            if (isLate(other)) failed.push({ job: other, error })
            else again.push(other)
          break
        }
      }
    }
    return { done, failed, again, hadConflict }
  }

  /** Returns the jobs that have to run again. */
  const runBatch = async (jobs: Job[]): Promise<Job[]> => {
    let open: Open | undefined
    let ran: Ran | undefined
    try {
      open = await begin(jobs)
      ran = await runAll(open, jobs)
      const { done, failed, again, hadConflict } = ran
      if (done.length > 0) await commit(open)
      // The only job of a transaction has already undone it.
      else if (jobs.length > 1) await open.client.query('rollback')
      // After a conflict it may hold statements that were prepared for an older schema.
      open.release(hadConflict)
      committed += done.length
      for (const { job, result } of done) job.resolve(result)
      for (const { job, error } of failed) job.reject(refused(error))
      return again
    } catch (error) {
      open?.release(true)
      if (jobs.length > 1 && mayConcernOne(error)) {
        const late = isLockTimeout(error) ? jobs.filter(isLate) : []
        for (const job of late) job.reject(refused(error))
        const others = jobs.filter((job) => !late.includes(job))
        for (const job of others) job.alone = true
        return others
      }
      // What became of the commit concerns only the jobs that were in it.
      const { done, failed, again } = ran ?? { done: jobs.map((job) => ({ job })), failed: [], again: [] }
      const reason = refused(error)
      for (const { job } of done) job.reject(reason)
      for (const { job, error: own } of failed) job.reject(refused(own))
      return again
    }
  }

  const runBatches = async (): Promise<void> => {
    looking += 1
    while (ready.size > 0) {
      const jobs = take()
      const again = await runBatch(jobs)
      for (const lane of new Set(jobs.map((job) => job.lane))) {
        const queue = [...again.filter((job) => job.lane === lane), ...held.get(lane)!]
        held.delete(lane)
        if (queue.length > 0) ready.set(lane, queue)
      }
      start()
    }
    looking -= 1
  }

  /** Starts a worker for each connection that could be used. */
  const start = (): void => {
    for (let more = ready.size; more > 0 && looking < options.connections; more -= 1) {
      const worker = runBatches().finally(() => workers.delete(worker))
      workers.add(worker)
    }
  }

  const enqueue = (job: Job): void => {
    const queue = held.get(job.lane) ?? ready.get(job.lane)
    if (queue) return void queue.push(job)
    ready.set(job.lane, [job])
    start()
  }

  return {
    run: (work: LockedWork['work'], org: Org, opening: LockedWork['opening']): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const orgs = new Set(org === null ? [] : [org])
        enqueue({
          work,
          opening,
          orgs,
          lane: org,
          resolve,
          reject,
          attempts: 0,
          since: performance.now(),
          alone: false,
        })
      }),
    /** The number of writes that the database refused. */
    failures: (): number => failures,
    /** The number of writes that were committed. */
    committed: (): number => committed,
    /** Resolves when no job waits or runs. */
    idle: async (): Promise<void> => {
      while (workers.size > 0) await Promise.all(workers)
    },
  }
}
