import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Log } from '../../core/log.ts'
import { addMs } from '../../core/iso-time.ts'
import type { NodeReport, Service } from '../call/service.ts'
import type { Signals } from '../call/signals/signals.ts'
import { newestVersion } from '../storage/migrations.ts'
import { lostAfterS } from '../storage/schema/service.ts'
import type { Storage } from '../storage/storage.ts'

/** What a process says about itself. */
export type NodeOptions = {
  id?: string
  /** Host and port. */
  address?: string
  /** Of svc. */
  version?: string | undefined
  state?(): NodeReport['state']
  /** Requests in progress. */
  requests?(): number
}

/** Two nodes can report the same address: in containers, or when one was killed and has started again. */
export const createNodeId = (): string => `${process.pid}-${randomBytes(4).toString('hex')}`

type Parts = { storage: Storage; signals: Pick<Signals, 'waiting'> }

/** A function that reports the state and the load of this process. */
export const createNode = (
  { storage, signals }: Parts,
  {
    id = createNodeId(),
    address = '-',
    version = '-',
    state = () => 'serving',
    requests = () => 0,
  }: NodeOptions = {},
): (() => NodeReport) => {
  const started_at = storage.now()
  let sampled = { at: performance.now(), writes: 0, rate: 0 }

  const writesPerSecond = (writes: number): number => {
    const at = performance.now()
    const seconds = (at - sampled.at) / 1000
    // Two calls in a row would measure nothing.
    if (seconds >= 1)
      sampled = { at, writes, rate: Math.round(((writes - sampled.writes) / seconds) * 10) / 10 }
    return sampled.rate
  }

  return () => {
    const { writes, connections, connections_limit } = storage.load()
    return {
      id,
      address,
      state: state(),
      version,
      schema_version: newestVersion(),
      started_at,
      seen_at: storage.now(),
      requests: requests(),
      waiting: signals.waiting,
      writes_per_second: writesPerSecond(writes),
      connections,
      connections_limit,
    }
  }
}

const everyMs = 5_000
const forgottenMs = 10 * 60_000
const leaveMs = 2_000

/**
 * Reports this node to the others every few seconds, and removes nodes that were not seen for long. `report` does it now;
 * `stop` removes this node.
 */
export const watchNode = ({ storage, node }: Pick<Service, 'storage' | 'node'>, log: Log) => {
  const warn = (error: unknown): void =>
    void log({
      at: storage.now(),
      level: 'warn',
      message: `This node could not report itself: ${String(error)}`,
    })

  const report = async (): Promise<void> => {
    const row = node()
    const { id: _, ...values } = row
    await storage
      .write(
        async (db) => {
          await db
            .insertInto('nodes')
            .values(row)
            .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
            .execute()
          const before = (ms: number): string => addMs(row.seen_at, -ms)
          await db
            .deleteFrom('nodes')
            .where(({ eb, or, and }) =>
              or([
                eb('seen_at', '<', before(forgottenMs)),
                // This node is there instead.
                and([eb('address', '=', row.address), eb('seen_at', '<', before(lostAfterS * 1000))]),
              ]),
            )
            .execute()
        },
        { org: null, routine: true },
      )
      .catch(warn)
  }

  let reporting = report()
  const timer = setInterval(() => (reporting = reporting.then(report)), everyMs).unref()
  return {
    report: (): Promise<void> => (reporting = reporting.then(report)),
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await reporting
      const { id } = node()
      const gone = storage.write((db) => db.deleteFrom('nodes').where('id', '=', id).execute(), {
        org: null,
        routine: true,
      })
      // A database that does not answer must not delay the stop.
      await Promise.race([gone.catch(warn), wait(leaveMs, undefined, { ref: false })])
    },
  }
}
