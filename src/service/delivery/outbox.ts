import { addMs, dayMs, hourMs } from '../../core/iso-time.ts'
import type { Channel } from '../call/message.ts'
import type { Storage } from '../storage/storage.ts'
import type { Adapters } from './adapter.ts'
import { repeatForAll } from '../call/repeat.ts'
import { nameOf } from './attempt.ts'
import { type ChannelWorker, createChannelWorker, type WorkerOptions } from './channel-worker.ts'
import { releaseAll } from './rows.ts'

const pollMs = 1_000
/** How long a message that was given up can be sent again. */
const retryableMs = dayMs
const recordMs = 30 * dayMs
/** Events can be many, and the audit log keeps them. */
const sentEventMs = dayMs

/** Erases messages that were not sent again in time, and deletes the records of those that ended long ago. */
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
          or([eb('updated_at', '<', addMs(now, -retryableMs)), eb('expires_at', '<=', now)]),
        )
        .execute()
      await db
        .deleteFrom('outbox')
        .where('state', 'in', ['sent', 'failed', 'dead'])
        .where('updated_at', '<', addMs(now, -recordMs))
        .execute()
      await db
        .deleteFrom('outbox')
        .where('channel', '=', 'webhook')
        .where('state', '=', 'sent')
        .where('updated_at', '<', addMs(now, -sentEventMs))
        .execute()
    },
    { org: null, routine: true },
  )
}

export type OutboxOptions = Omit<WorkerOptions, 'random' | 'timeoutMs'> & {
  adapters: Adapters
  random?: () => number
  timeoutMs?: number | undefined
  /** How long a stop waits for attempts that are under way. */
  graceMs?: number
}

/** Sends the messages of the outbox, each channel with its adapter. Messages of a channel without one stay. */
export const createOutbox = ({
  adapters,
  random = Math.random,
  timeoutMs = 30_000,
  ...rest
}: OutboxOptions) => {
  const { storage, log, graceMs = 5_000 } = rest
  const workers: ChannelWorker[] = Object.entries(adapters).map(([channel, adapter]) =>
    createChannelWorker(channel as Channel, adapter, { ...rest, random, timeoutMs }),
  )
  const stops: (() => unknown)[] = []

  const wake = (): void => {
    for (const worker of workers) worker.wake()
  }

  return {
    /** Sends what is due now. */
    wake,
    /** Sends and purges regularly from now on. `alone`: no other process sends from this store. */
    start: async ({ alone }: { alone: boolean }): Promise<void> => {
      if (alone) await storage.write((db) => releaseAll(db, storage.now()), { org: null, routine: true })
      const stopPurge = repeatForAll(
        { storage, log },
        {
          work: 'purge of the outbox',
          everyMs: hourMs,
          run: () => purge(storage),
          failed: (error) => `Old messages were not deleted from the outbox: ${nameOf(error)}`,
        },
      )
      const timer = setInterval(wake, pollMs).unref()
      stops.push(stopPurge, () => clearInterval(timer))
      wake()
    },
    idle: async (): Promise<void> => {
      await Promise.all(workers.map((worker) => worker.idle()))
    },
    stop: async (): Promise<void> => {
      const stopping = stops.map((stop) => stop())
      await Promise.all([...stopping, ...workers.map((worker) => worker.stop(graceMs))])
    },
  }
}
