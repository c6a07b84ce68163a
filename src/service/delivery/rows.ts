import type { Channel } from '../call/message.ts'
import type { Db } from '../storage/schema.ts'

/** A message that is being sent by this process, and by nobody else until `next_at`. */
export type Claimed = {
  id: number
  message_id: string
  channel: Channel
  kind: string
  recipient: string
  wrapped: string | null
  attempts: number
  expires_at: string | null
}

/** How a message goes on after an attempt. */
export type AttemptResult =
  | { state: 'sent'; provider_id: string | null }
  | { state: 'failed' | 'dead'; error: string; keep: boolean }
  | { state: 'queued'; error: string; next_at: string }

type Due = { channel: Channel; now: string }

const due = (db: Db, { channel, now }: Due) =>
  db
    .selectFrom('outbox')
    .where('channel', '=', channel)
    .where('state', 'in', ['queued', 'sending'])
    .where('next_at', '<=', now)
    .select('id')
    .orderBy('next_at')

export const isDue = async (db: Db, what: Due): Promise<boolean> =>
  (await due(db, what).limit(1).executeTakeFirst()) !== undefined

/**
 * Takes what is due, the oldest first, until `until`. One statement that asks for the state again: two that look at the
 * same moment never take the same message.
 */
export const claim = (db: Db, { channel, now, until, limit }: Due & { until: string; limit: number }) =>
  db
    .updateTable('outbox')
    .set(({ eb }) => ({
      state: 'sending' as const,
      attempts: eb('attempts', '+', 1),
      next_at: until,
      updated_at: now,
    }))
    .where('id', 'in', due(db, { channel, now }).limit(limit))
    .where('state', 'in', ['queued', 'sending'])
    .where('next_at', '<=', now)
    .returning(['id', 'message_id', 'channel', 'kind', 'recipient', 'wrapped', 'attempts', 'expires_at'])
    .execute()

/** Writes down how an attempt ended. Whoever lost the message to another meanwhile says nothing, except that it is sent. */
export const record = async (
  db: Db,
  { id, attempts }: Pick<Claimed, 'id' | 'attempts'>,
  verdict: AttemptResult,
  now: string,
): Promise<void> => {
  const row = db.updateTable('outbox').where('id', '=', id)
  const own = row.where('state', '=', 'sending').where('attempts', '=', attempts)
  if (verdict.state === 'sent')
    await row
      .set({ ...verdict, wrapped: null, error: null, updated_at: now })
      .where('state', '<>', 'sent')
      .execute()
  else if (verdict.state === 'queued') await own.set({ ...verdict, updated_at: now }).execute()
  else {
    const { keep, ...last } = verdict
    await own.set({ ...last, ...(!keep && { wrapped: null }), updated_at: now }).execute()
  }
}

/** What a process that died has left half done is due at once. Only for who knows that no other process sends. */
export const releaseAll = (db: Db, now: string) =>
  db
    .updateTable('outbox')
    .set({ state: 'queued', next_at: now, updated_at: now })
    .where('state', '=', 'sending')
    .execute()

/** What a backup holds as unsent was perhaps sent after it was made: somebody is to decide that, message by message. */
export const holdRestored = (db: Db, now: string) =>
  db
    .updateTable('outbox')
    .set({ state: 'dead', error: 'restored from a backup: it may have been sent since', updated_at: now })
    .where('state', 'in', ['queued', 'sending'])
    .execute()
