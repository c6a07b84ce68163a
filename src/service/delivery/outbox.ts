import { addMs } from '../../core/iso-time.ts'
import type { Channel } from '../call/message.ts'
import type { Storage } from '../storage/storage.ts'
import type { Adapters } from './adapter.ts'
import { nameOf } from './attempt.ts'
import { type ChannelWorker, createChannelWorker, type WorkerOptions } from './channel-worker.ts'
import { releaseAll } from './rows.ts'

const hour = 60 * 60_000
const keptForRetryMs = 24 * hour
const keptMs = 30 * 24 * hour

/** Erases the messages that nobody sent again in time, and forgets what ended long ago. */
export const purge = async (storage: Storage): Promise<void> => {
  const now = storage.now()
  await storage.write(
    async (db) => {
      await db
        .updateTable('outbox')
        .set({ wrapped: null })
        .where('state', '=', 'dead')
        .where('wrapped', 'is not', null)
        .where(({ eb, or }) =>
          or([eb('updated_at', '<', addMs(now, -keptForRetryMs)), eb('expires_at', '<=', now)]),
        )
        .execute()
      await db
        .deleteFrom('outbox')
        .where('state', 'in', ['sent', 'failed', 'dead'])
        .where('updated_at', '<', addMs(now, -keptMs))
        .execute()
    },
    { org: 0 },
  )
}

const pollMs = 1_000
const purgeMs = 60 * 60_000

type Options = Omit<WorkerOptions, 'random' | 'timeoutMs'> & {
  adapters: Adapters
  random?: () => number
  timeoutMs?: number | undefined
  /** What stopping waits for attempts that are under way, milliseconds. */
  graceMs?: number
}

/** Sends what the outbox holds, each channel by its adapter; a channel without one is left alone. */
export const createOutbox = ({ adapters, random = Math.random, timeoutMs = 30_000, ...rest }: Options) => {
  const { storage, log, graceMs = 5_000 } = rest
  const workers: ChannelWorker[] = Object.entries(adapters).map(([channel, adapter]) =>
    createChannelWorker(channel as Channel, adapter, { ...rest, random, timeoutMs }),
  )
  const timers: NodeJS.Timeout[] = []

  const wake = (): void => {
    for (const worker of workers) worker.wake()
  }

  const tidy = (): void =>
    void purge(storage).catch((error: unknown) =>
      log({
        at: storage.now(),
        level: 'warn',
        message: `Old messages were not deleted from the outbox: ${nameOf(error)}`,
      }),
    )

  return {
    /** Looks now: something is due. */
    wake,
    /** Goes on by itself from now on. `alone`: no other process sends from this store. */
    start: async ({ alone }: { alone: boolean }): Promise<void> => {
      if (alone) await storage.write((db) => releaseAll(db, storage.now()), { org: 0 })
      timers.push(setInterval(wake, pollMs).unref(), setInterval(tidy, purgeMs).unref())
      tidy()
      wake()
    },
    idle: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.idle()))
    },
    stop: async (): Promise<void> => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(workers.map((worker) => worker.stop(graceMs)))
    },
  }
}

export type Outbox = ReturnType<typeof createOutbox>
