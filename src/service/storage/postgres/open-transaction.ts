import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import type { Db } from '../schema.ts'
import { type AuditHead, RunAgain, startTransaction } from '../transaction.ts'
import { type DatabaseClock, serverTime } from './clock.ts'
import { control, execute, isWarned, unawaited } from './connection.ts'
import { queriesWith } from './dialect.ts'
import { isConnectionLost, outcomeUnknown } from './errors.ts'
import { lockOf, lockOfNumber, lockOfPeople } from './locks.ts'

/** How often a commit whose answer was lost is looked for, in milliseconds. */
const retryMs = 250

type Appended = { org: number } & Pick<AuditHead, 'seq' | 'hash'>

/** Work, what it reads first, and the organizations that are locked before either. */
export type LockedWork = {
  work(db: Db, opened: unknown): Promise<unknown>
  opening: ((db: Db) => Promise<unknown>) | undefined
  orgs: Set<number>
}

/** A transaction that has locked its organization, if it has one. */
export type Open = {
  client: pg.PoolClient
  /**
   * Runs a job in the transaction with the locks of its organizations, to which it adds those that the work takes. `keep` notes
   * what it appended to audits, if it is not rolled back.
   */
  run(job: LockedWork): Promise<{ result: unknown; keep(): void }>
  /** A row that exists only if the transaction was committed. */
  witness(): Appended | undefined
}

const lockStatement = { name: 'svc_lock', text: `select pg_advisory_xact_lock($1), ${serverTime} as at` }
const lockNumberStatement = {
  name: 'svc_lock_number',
  text: 'select pg_advisory_xact_lock_shared($1), pg_advisory_xact_lock($2)',
}
const lockPeopleStatement = { name: 'svc_lock_people', text: 'select pg_advisory_xact_lock($1)' }
/** The memory for locks is limited, and all transactions share it. */
const numbersAtMost = 100
const headStatement = {
  name: 'svc_head',
  text: 'select seq, hash, at from audit where org_id = $1 order by seq desc limit 1',
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

/** Commits. Throws if the database answers anything else than that the transaction is committed and replicated. */
const confirmed = async (client: pg.PoolClient): Promise<void> => {
  const answer = client.query(control.commit)
  if (await isWarned(client, answer))
    throw outcomeUnknown(new Error('the wait for the standby was cancelled'))
  // COMMIT after a failed statement is a rollback and not an error.
  if ((await answer).command !== 'COMMIT') throw new Error('the database rolled the transaction back')
}

export type TransactionOptions = {
  pool: pg.Pool
  clock: DatabaseClock
  /** How long a commit whose answer was lost is looked for, in milliseconds. */
  resolveMs: number
}

export const createTransactions = ({ pool, clock, resolveMs }: TransactionOptions) => {
  /** Locks an organization until the end of the transaction and then reads the end of its audit, in one round trip. */
  const lock = async (client: pg.PoolClient, org: number): Promise<AuditHead | undefined> => {
    const [time, head] = await Promise.all([
      client.query<{ at: number }>({ ...lockStatement, values: [lockOf(org)] }),
      client.query<AuditHead>({ ...headStatement, values: [org] }),
    ])
    clock.learn(time.rows[0]!.at)
    return head.rows[0]
  }

  /** `first` is the first job: what it reads is sent together with the lock. */
  const begin = async (org: number | null, first?: LockedWork): Promise<Open> => {
    const client = await pool.connect()
    const db = queriesOf(client)
    let head: AuditHead | undefined
    let opened: Promise<unknown> | undefined
    try {
      const begun = [client.query(control.begin), org === null ? undefined : lock(client, org)] as const
      opened = first?.opening?.(db)
      // Awaited when the job runs.
      if (opened) unawaited(opened)
      ;[, head] = await Promise.all(begun)
    } catch (error) {
      client.release(true)
      throw error
    }
    let heads = new Map(org === null ? [] : [[org, head]])
    let witness: Appended | undefined
    return {
      client,
      witness: () => witness,
      run: async (job) => {
        const { work, opening, orgs } = job
        const after = new Map(heads)
        let last = witness
        let sent = job === first ? opened : undefined
        for (const other of [...orgs].sort((a, b) => a - b)) {
          if (after.has(other)) continue
          after.set(other, await lock(client, other))
          // What it read may have changed before this lock.
          sent = undefined
        }
        sent ??= opening?.(db)
        if (sent) unawaited(sent)
        startTransaction(db, {
          shared: true,
          head: (other) => {
            // What was read so far may have changed since.
            if (!after.has(other)) throw new RunAgain(other)
            return after.get(other)
          },
          lock: async (other) => {
            if (after.has(other)) return false
            // Locks are taken in one order, so that no two transactions wait for each other.
            if ([...orgs].some((one) => one > other)) throw new RunAgain(other)
            after.set(other, await lock(client, other))
            orgs.add(other)
            return true
          },
          lockNumbers: async (mobiles) => {
            if (mobiles.length > numbersAtMost)
              await client.query({ ...lockPeopleStatement, values: [lockOfPeople] })
            else
              for (const mobile of mobiles)
                await client.query({ ...lockNumberStatement, values: [lockOfPeople, lockOfNumber(mobile)] })
          },
          append: async (to, head, added) => {
            after.set(to, head)
            last = { org: to, seq: head.seq, hash: head.hash }
            // If it fails, so does each later statement of the transaction, and the commit.
            unawaited(added)
          },
        })
        const result = await work(db, await sent)
        return { result, keep: () => ([heads, witness] = [after, last]) }
      },
    }
  }

  /** Whether a transaction whose answer was lost is committed. Throws if the database cannot be asked in time. */
  const isCommitted = async (witness: Appended): Promise<boolean> => {
    for (const until = performance.now() + resolveMs; ;) {
      try {
        // The lock waits for the end of that transaction.
        const { client } = await begin(witness.org)
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
          client.release(true)
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
  const commit = async ({ client, witness }: Open): Promise<void> => {
    try {
      await confirmed(client)
    } catch (error) {
      if (!isConnectionLost(error)) throw error
      const appended = witness()
      const committed = appended && (await isCommitted(appended).catch(() => undefined))
      if (committed === undefined) throw outcomeUnknown(error)
      if (!committed) throw error
    }
  }

  return { begin, commit }
}
