import { addMs } from '../../core/iso-time.ts'
import type { Storage } from '../storage/storage.ts'

const hour = 60 * 60_000
const keptForRetryMs = 24 * hour
const keptMs = 30 * 24 * hour

/** Erases the messages that nobody sent again in time, and forgets what ended long ago. */
export const purge = async (storage: Storage): Promise<void> => {
  const now = storage.now()
  await storage.write(async (db) => {
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
  })
}
