import type { Db } from '../schema.ts'
import { stopAtDamage } from '../damage.ts'
import type { Storage, WriteOptions } from '../storage.ts'
import { createWriteProbe } from '../write-probe.ts'
import { createBus } from './bus.ts'
import { checkServer } from './check-server.ts'
import { createDatabaseClock, serverTime } from './clock.ts'
import { execute, openPool } from './connection.ts'
import { readDatabaseUrl } from './database-url.ts'
import { queriesWith } from './dialect.ts'
import { asUnavailable, isConflict } from './errors.ts'
import { readFacts, replicationOf } from './facts.ts'
import { createLanes } from './lanes.ts'
import { migrate } from './migrate.ts'
import type { LockedWork } from './open-transaction.ts'
import { asDatabaseProblem } from './problems.ts'
import { writeAndUndo } from './undone-write.ts'
import { watchRisk, type Report } from './watch-risk.ts'
import { withClient } from './with-client.ts'

type Options = {
  /** postgres://user@host/database */
  url: string
  now?: (() => Date) | undefined
  /** Connections of this node, without the one that listens to the others. */
  connections?: number | undefined
  /** Refuses a database that can lose acknowledged writes. */
  durable?: boolean
  /** Is told what the database could lose, at the start and whenever that changes. */
  report?: Report | undefined
  /** How often that is looked at, in milliseconds. */
  lookMs?: number | undefined
  /** How long a commit whose answer was lost is looked for, in milliseconds. */
  resolveMs?: number
}

const probeStatement = `insert into settings (name, value) values ('write_probe', '')
  on conflict (name) do update set value = excluded.value`

/** Opens the store in a database; creates or upgrades it as needed. Throws an SvcError if a newer svc wrote it. */
export const openPostgres = async ({
  url,
  now,
  connections = 10,
  resolveMs = 10_000,
  durable = false,
  report,
  lookMs,
}: Options): Promise<Storage> => {
  const server = readDatabaseUrl(url)
  const writing = Math.ceil(connections / 2)
  const clock = createDatabaseClock()
  const facts = await withClient(server, async (client) => {
    const found = await checkServer(client, { durable })
    await migrate(client)
    const { rows } = await client.query<{ at: number }>(`select ${serverTime} as at`)
    clock.learn(rows[0]!.at)
    return found
  })
  const schema = facts.schema!
  const writers = openPool({ server, schema, max: writing })
  const readers = openPool({ server, schema, max: Math.floor(connections / 2), readOnly: true })
  const bus = createBus(server)
  const close = async (): Promise<void> => {
    await Promise.all([writers.end(), readers.end(), bus.close()])
  }
  try {
    await bus.connect()
  } catch (error) {
    await close()
    throw asDatabaseProblem(server, error)
  }
  // A statement that a connection prepared before a newer node has upgraded the schema fails there, and the pool replaces the
  // connection.
  const reading = queriesWith(async (query) => {
    for (let left = connections; ; left -= 1)
      try {
        return await execute(readers, query)
      } catch (error) {
        if (left === 0 || !isConflict(error)) throw error
      }
  })
  const lanes = createLanes({ pool: writers, connections: writing, clock, resolveMs })
  const watch = report && watchRisk(facts, () => readFacts(readers), { report, everyMs: lookMs })
  let closed = false
  const refuseClosed = (): void => {
    if (closed) throw new Error('the store is closed')
  }
  let revision = 0
  /** Writes of this node that may have changed a key, an organization or a limit. */
  let changes = 0
  const canWrite = createWriteProbe(async (thorough) => {
    await writers.query(probeStatement)
    if (thorough) await writeAndUndo(writers)
  }, lanes.failures)
  const engine: Omit<Storage, 'problem'> = {
    read: async (work) => {
      refuseClosed()
      try {
        return await work(reading)
      } catch (error) {
        throw asUnavailable(error)
      }
    },
    write: async <T, O>(
      work: (db: Db, opened: O) => Promise<T>,
      { org, routine = false, opening }: WriteOptions<O>,
    ): Promise<T> => {
      refuseClosed()
      try {
        return (await lanes.run(work as LockedWork['work'], org, opening)) as T
      } finally {
        if (!routine) changes += 1
      }
    },
    // Another node may have committed since the last call.
    revision: () => (revision += 1),
    recentRevision: () => changes + Math.floor(performance.now() / 1000),
    load: () => ({
      writes: lanes.committed(),
      connections: [writers, readers].reduce((sum, pool) => sum + pool.totalCount - pool.idleCount, 0),
      connections_limit: connections,
    }),
    replication: () => watch && replicationOf(watch.latest()),
    now: now ? () => now().toISOString() : clock.now,
    shared: true,
    publish: bus.publish,
    subscribe: bus.subscribe,
    close: async () => {
      closed = true
      watch?.stop()
      await lanes.idle()
      await close()
    },
  }
  return stopAtDamage(engine, canWrite, { report })
}
