import type pg from 'pg'
import type { Db } from '../schema.ts'
import { type AuditPlace, startTransaction } from '../transaction.ts'
import { type DatabaseClock, serverTime } from './clock.ts'
import { execute } from './connection.ts'
import { queriesWith } from './dialect.ts'
import { asUnavailable, isConflict, isConnectionLost, outcomeUnknown } from './errors.ts'

/** Jobs that share a transaction, and how long it may stay open for them, in milliseconds. */
const jobsAtMost = 32
const openForMs = 10
/** How often a job is run again after a deadlock with another organization. */
const attemptsAtMost = 5
/** How long a commit whose answer was lost is looked for. */
const resolveMs = 10_000

type Job = {
  work(db: Db): Promise<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
  attempts: number
}

type Done = { job: Job; result: unknown }

// Advisory locks: 16 bits name svc, 48 the organization.
const lockSpace = 0x7376n << 48n
export const lockOf = (org: number): string => String(lockSpace | BigInt(org))

/** One connection with its queries. */
const sessions = new WeakMap<pg.PoolClient, Db>()
const queriesOf = (client: pg.PoolClient): Db => {
  const known = sessions.get(client)
  if (known) return known
  const db = queriesWith((query) => execute(client, query))
  sessions.set(client, db)
  return db
}

type Options = { pool: pg.Pool; clock: DatabaseClock }

/**
 * Runs jobs in transactions that first lock their organization. On this node an organization has one open transaction at a
 * time; jobs that waited for it share the next one. So an organization with many writes takes one connection, not all.
 */
export const createLanes = ({ pool, clock }: Options) => {
  const waiting = new Map<number, Job[]>()
  const lanes = new Set<Promise<void>>()
  let revision = 0
  let failures = 0

  const lock = async (client: pg.PoolClient, org: number): Promise<void> => {
    const { rows } = await client.query<{ at: number }>({
      name: 'svc_lock',
      text: `select pg_advisory_xact_lock($1), ${serverTime} as at`,
      values: [lockOf(org)],
    })
    clock.learn(rows[0]!.at)
  }

  /** The connection of a transaction that has locked the organization. */
  const begin = async (org: number): Promise<pg.PoolClient> => {
    const client = await pool.connect()
    try {
      // In one round trip.
      await Promise.all([client.query('begin'), lock(client, org)])
      return client
    } catch (error) {
      client.release(true)
      throw error
    }
  }

  /** Runs a job in an open transaction. `places` gets the audit rows by which its commit can be recognized. */
  const runJob = (client: pg.PoolClient, org: number, job: Job, places: AuditPlace[]): Promise<unknown> => {
    const db = queriesOf(client)
    const locked = new Set([org])
    startTransaction(db, {
      lock: async (other) => {
        if (locked.has(other)) return
        await lock(client, other)
        locked.add(other)
      },
      appended: (place) => void places.push(place),
    })
    job.attempts += 1
    return job.work(db)
  }

  /** Runs the jobs in an open transaction, each with a savepoint if there are several. Those that failed are rejected. */
  const runAll = async (
    client: pg.PoolClient,
    org: number,
    jobs: Job[],
  ): Promise<{ done: Done[]; places: AuditPlace[]; again: Job[] }> => {
    const done: Done[] = []
    const places: AuditPlace[] = []
    const again: Job[] = []
    const alone = jobs.length === 1
    const until = performance.now() + openForMs
    for (const [n, job] of jobs.entries()) {
      if (n > 0 && performance.now() > until) {
        again.push(...jobs.slice(n))
        break
      }
      const count = places.length
      try {
        if (!alone) await client.query('savepoint job')
        const result = await runJob(client, org, job, places)
        if (!alone) await client.query('release job')
        done.push({ job, result })
      } catch (error) {
        if (isConnectionLost(error)) throw error
        places.length = count
        await client.query(alone ? 'rollback' : 'rollback to job')
        if (isConflict(error) && job.attempts < attemptsAtMost) again.push(job)
        else job.reject(refused(error))
      }
    }
    return { done, places, again }
  }

  const refused = (error: unknown): unknown => {
    const reason = asUnavailable(error)
    if (reason !== error) failures += 1
    return reason
  }

  /**
   * Whether a transaction whose answer was lost is committed: its audit row is there. Taking the lock waits for the end of
   * that transaction. Throws if the database cannot be asked in time.
   */
  const isCommitted = async (org: number, place: AuditPlace): Promise<boolean> => {
    const until = performance.now() + resolveMs
    for (;;) {
      try {
        const client = await begin(org)
        try {
          const { rows } = await client.query<{ hash: string }>({
            text: 'select hash from audit where org_id = $1 and seq = $2',
            values: [place.org_id, place.seq],
          })
          await client.query('rollback')
          client.release()
          return rows[0]?.hash === place.hash
        } catch (error) {
          client.release(true)
          throw error
        }
      } catch (error) {
        if (performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, 250))
      }
    }
  }

  /** Commits; returns whether everything that the jobs did is committed. Throws what the caller of each job gets. */
  const commit = async (client: pg.PoolClient, org: number, places: AuditPlace[]): Promise<void> => {
    try {
      const { command } = await client.query('commit')
      // Of a transaction that failed before, COMMIT is a rollback and not an error.
      if (command === 'COMMIT') return
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      const [place] = places
      if (!place) throw outcomeUnknown(error)
      const committed = await isCommitted(org, place).catch(() => {
        throw outcomeUnknown(error)
      })
      if (committed) return
      throw error
    }
    throw new Error('the database undid the transaction')
  }

  /** Returns the jobs that have to run again. */
  const runBatch = async (org: number, jobs: Job[]): Promise<Job[]> => {
    let client: pg.PoolClient | undefined
    let rest = jobs
    try {
      client = await begin(org)
      const { done, places, again } = await runAll(client, org, jobs)
      rest = done.map(({ job }) => job)
      if (done.length > 0) await commit(client, org, places)
      client.release()
      for (const { job, result } of done) job.resolve(result)
      return again
    } catch (error) {
      client?.release(true)
      const reason = refused(error)
      for (const job of rest) job.reject(reason)
      return []
    } finally {
      revision += 1
    }
  }

  const runLane = async (org: number, queue: Job[]): Promise<void> => {
    while (queue.length > 0) queue.unshift(...(await runBatch(org, queue.splice(0, jobsAtMost))))
    waiting.delete(org)
  }

  return {
    run: <T>(work: (db: Db) => Promise<T>, org: number): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        const job: Job = { work, resolve: resolve as Job['resolve'], reject, attempts: 0 }
        const queue = waiting.get(org)
        if (queue) return void queue.push(job)
        const jobs = [job]
        waiting.set(org, jobs)
        const lane = runLane(org, jobs).finally(() => lanes.delete(lane))
        lanes.add(lane)
      }),
    revision: (): number => revision,
    failures: (): number => failures,
    /** Resolves when no job waits or runs. */
    idle: async (): Promise<void> => {
      while (lanes.size > 0) await Promise.all(lanes)
    },
  }
}
