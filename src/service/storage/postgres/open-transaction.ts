import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Db } from '../schema.ts'
import { type AuditHead, RunAgain, startTransaction } from '../transaction.ts'
import type { DatabaseClock } from './clock.ts'
import { control, execute, isWarned, unawaited } from './connection.ts'
import { queriesWith } from './dialect.ts'
import { codeOf, isConnectionLost, outcomeUnknown } from './errors.ts'
import { createOrganizationLock, lockPeople } from './take-locks.ts'

/** How often a commit whose answer was lost is looked for, in milliseconds. */
const retryMs = 250
/** How old what was read together with the locks may be when a job starts from it, in milliseconds. */
const openedForMs = 100

type Appended = { org: number } & Pick<AuditHead, 'seq' | 'hash'>

/** Organizations to lock, and what to read afterwards, before the work. */
type Locking = {
  orgs: Set<number>
  opening?: ((db: Db) => Promise<unknown>) | undefined
}

export type LockedWork = Locking & { work(db: Db, opened: unknown): Promise<unknown> }

/** A transaction that has locked the organizations of its jobs. */
export type Open = {
  client: pg.PoolClient
  /** Whether the organizations of a job are locked. */
  has(job: LockedWork): boolean
  /** Gives the connection back, or closes it. Only the first call does anything. */
  release(close: boolean): void
  /**
   * Runs a job with the locks of its organizations, to which it adds those that the work takes. `keep` notes what it appended
   * to audits, if it is not rolled back.
   */
  run(job: LockedWork): Promise<{ result: unknown; keep(): void }>
  /** The error of the statement that failed first, if `thrown` is only what the database answers afterwards. */
  cause(thrown: unknown): Promise<unknown>
  /** A row that exists only if the transaction was committed. */
  witness(): Appended | undefined
}

/** Fails if the row is not there: a trigger of the database can swallow it. */
const appendedStatement = {
  name: 'svc_appended',
  text: 'select 1 / count(*) from audit where org_id = $1 and seq = $2 and hash = $3',
}
const witnessText = 'select 1 from audit where org_id = $1 and seq = $2 and hash = $3'

/** The queries of each connection, which are compiled once. */
const queries = new WeakMap<pg.PoolClient, Db>()
const queriesOf = (client: pg.PoolClient): Db => {
  const known = queries.get(client)
  if (known) return known
  const db = queriesWith((query) => execute(client, query))
  queries.set(client, db)
  return db
}

/** The answer to each statement after one that failed, and the error of a commit then. */
const afterFailure = '25P02'
const rolledBack = (): Error =>
  Object.assign(new Error('the database rolled the transaction back'), { code: afterFailure })

/** Commits. Throws if the database answers anything else than that the transaction is committed and replicated. */
const confirmed = async (client: pg.PoolClient): Promise<void> => {
  const answer = client.query(control.commit)
  if (await isWarned(client, answer))
    throw outcomeUnknown(new Error('the wait for the standby was cancelled'))
  // COMMIT after a failed statement is a rollback and not an error.
  if ((await answer).command !== 'COMMIT') throw rolledBack()
}

export type TransactionOptions = {
  pool: pg.Pool
  clock: DatabaseClock
  /** How long a commit whose answer was lost is looked for, in milliseconds. */
  resolveMs: number
}

export const createTransactions = ({ pool, clock, resolveMs }: TransactionOptions) => {
  const lock = createOrganizationLock(clock)

  type Begun = {
    client: pg.PoolClient
    /** Whether jobs of several organizations share the transaction. No job then waits for a lock: it runs again alone. */
    several: boolean
    db: Db
    heads: Map<number, AuditHead | undefined>
    opened: ReadonlyMap<Locking, Promise<unknown>>
  }

  const openTransaction = ({ client, several, db, opened, ...begun }: Begun): Open => {
    let { heads } = begun
    const began = performance.now()
    let witness: Appended | undefined
    let released = false
    /** The statements of the last job that nobody has awaited. */
    let appended: Promise<unknown>[] = []
    return {
      client,
      has: ({ orgs }) => [...orgs].every((org) => heads.has(org)),
      release: (close) => {
        if (!released) client.release(close)
        released = true
      },
      witness: () => witness,
      cause: async (thrown) => {
        if (codeOf(thrown) !== afterFailure) return thrown
        const failed = (await Promise.allSettled(appended)).find(({ status }) => status === 'rejected')
        return (failed as PromiseRejectedResult | undefined)?.reason ?? thrown
      },
      run: async (job) => {
        appended = []
        const { work, opening, orgs } = job
        const after = new Map(heads)
        let last = witness
        /** The last row of each audit. */
        const rows = new Map<number, unknown[]>()
        const send = (statement: Promise<unknown>): void => {
          // If it fails, so does each later statement of the transaction, and the commit.
          unawaited(statement)
          appended.push(statement)
        }
        startTransaction(db, {
          shared: true,
          head: (org) => {
            // Without its own lock, what the job has read may have changed since.
            if (!orgs.has(org)) throw new RunAgain(org)
            return after.get(org)
          },
          lock: async (org) => {
            if (orgs.has(org)) return false
            // Locks are taken in one order, so that no two transactions wait for each other.
            if ([...after.keys()].some((one) => one >= org)) throw new RunAgain(org)
            const locked = await lock(client, org, several)
            if (!locked) throw new RunAgain(org)
            after.set(org, locked.head)
            orgs.add(org)
            return true
          },
          lockNumbers: async (mobiles) => {
            if (!(await lockPeople(client, mobiles, several))) throw new RunAgain()
          },
          append: async (org, head, added) => {
            after.set(org, head)
            last = { org, seq: head.seq, hash: head.hash }
            rows.set(org, [org, head.seq, head.hash])
            send(added)
          },
        })
        const isRecent = performance.now() - began < openedForMs
        const sent = (isRecent && opened.get(job)) || opening?.(db)
        if (sent) unawaited(sent)
        const result = await work(db, await sent)
        // Otherwise a trigger can wait for the commit.
        if (rows.size > 0) send(client.query(control.constraints))
        for (const values of rows.values()) send(client.query({ ...appendedStatement, values }))
        return { result, keep: () => ([heads, witness] = [after, last]) }
      },
    }
  }

  /**
   * Begins a transaction for jobs. Waits for their organization; if there are several, locks those that no other node has, so
   * that none waits because of another. What the first job of each reads before its work is sent together with the locks.
   */
  const begin = async (jobs: readonly Locking[]): Promise<Open> => {
    const client = await pool.connect()
    const db = queriesOf(client)
    const orgs = [...new Set(jobs.flatMap((job) => [...job.orgs]))].sort((a, b) => a - b)
    // A job alone may need several organizations.
    const several = orgs.length > 1 && jobs.length > 1
    const opened = new Map<Locking, Promise<unknown>>()
    const heads = new Map<number, AuditHead | undefined>()
    try {
      const begun = client.query(control.begin)
      const locking = orgs.map(async (org) => {
        const locked = await lock(client, org, several)
        if (locked) heads.set(org, locked.head)
      })
      const lanes = new Set<number>()
      for (const job of jobs) {
        const isFirst = [...job.orgs].every((org) => !lanes.has(org))
        for (const org of job.orgs) lanes.add(org)
        const sent = isFirst && job.opening?.(db)
        if (!sent) continue
        // Awaited when the job runs.
        unawaited(sent)
        opened.set(job, sent)
      }
      await Promise.all([begun, ...locking])
    } catch (error) {
      client.release(true)
      throw error
    }
    return openTransaction({ client, several, db, heads, opened })
  }

  /** Whether a transaction whose answer was lost is committed. Throws if the database cannot be asked in time. */
  const isCommitted = async (witness: Appended): Promise<boolean> => {
    for (const until = performance.now() + resolveMs; ;) {
      try {
        // The lock waits for the end of that transaction.
        const { client, release } = await begin([{ orgs: new Set([witness.org]) }])
        try {
          const { rows } = await client.query({
            text: witnessText,
            values: [witness.org, witness.seq, witness.hash],
          })
          // With synchronous replication, this commit is acknowledged only if everything before it is replicated too.
          await client.query("select pg_logical_emit_message(true, 'svc', '')")
          await confirmed(client)
          return rows.length > 0
        } finally {
          release(true)
        }
      } catch (error) {
        if (performance.now() > until) throw error
        await wait(retryMs)
      }
    }
  }

  /**
   * Returns once the transaction is committed. Throws if nothing was changed, or a Refusal 503 `outcome_unknown` if that cannot
   * be found out.
   */
  const commit = async ({ client, witness, release, cause }: Open): Promise<void> => {
    try {
      await confirmed(client)
    } catch (error) {
      if (!isConnectionLost(error)) throw await cause(error)
      // Every connection may be lost at once, and the pool then needs room for others.
      release(true)
      const appended = witness()
      const committed = appended && (await isCommitted(appended).catch(() => undefined))
      if (committed === undefined) throw outcomeUnknown(error)
      if (!committed) throw error
    }
  }

  return { begin, commit }
}
