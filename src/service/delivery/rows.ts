import type { Selectable } from 'kysely'
import type { Channel } from '../call/message.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { skipLocked } from '../storage/transaction.ts'

const claimed = [
  'id',
  'message_id',
  'org_id',
  'channel',
  'kind',
  'recipient',
  'wrapped',
  'attempts',
  'expires_at',
] as const satisfies (keyof Tables['outbox'])[]

/** A message that this process is sending, and no other process until `next_at`. */
export type Claimed = Pick<Selectable<Tables['outbox']>, (typeof claimed)[number]>

/** What changes in the row of a message after an attempt. Its content is erased with the last one. */
export type AttemptResult =
  | { state: 'sent'; provider_id: string | null; wrapped: null; error: null }
  | { state: 'failed' | 'dead'; error: string; wrapped?: null }
  | { state: 'queued'; error: string; next_at: string }

type Due = {
  channel: Channel
  now: string
  /** Of each recipient, only the oldest message, and none of those here, which are busy. */
  oneEach?: { busy: readonly string[] } | undefined
  /** No message of these organizations, which are busy. */
  busyOrganizations?: readonly number[]
}

const dueRows = (db: Db, { channel, now, oneEach: { busy } = { busy: [] }, busyOrganizations = [] }: Due) =>
  db
    .selectFrom('outbox')
    .where('channel', '=', channel)
    .where('state', 'in', ['queued', 'sending'])
    .where('next_at', '<=', now)
    .$if(busy.length > 0, (query) => query.where('recipient', 'not in', [...busy]))
    .$if(busyOrganizations.length > 0, (query) => query.where('org_id', 'not in', [...busyOrganizations]))

const due = (db: Db, what: Due) =>
  dueRows(db, what)
    .$if(what.oneEach !== undefined, (query) =>
      query.where('id', 'in', () =>
        dueRows(db, what)
          .groupBy('recipient')
          .select(({ fn }) => fn.min('id').as('id')),
      ),
    )
    .select('id')
    .orderBy('next_at')

export const isDue = async (db: Db, what: Due): Promise<boolean> =>
  (await due(db, what).limit(1).executeTakeFirst()) !== undefined

/**
 * Claims messages that are due, the oldest first, until `until`. It is one statement that checks the state again, so that
 * two processes never claim the same message.
 */
export const claim = (db: Db, { until, limit, ...what }: Due & { until: string; limit: number }) => {
  const { now } = what
  return (
    db
      // Not in the condition itself, where PostgreSQL may run it for each row, and claim more than the limit.
      .with('ready', () => skipLocked(db, due(db, what).limit(limit)))
      .updateTable('outbox')
      .set(({ eb }) => ({
        state: 'sending' as const,
        attempts: eb('attempts', '+', 1),
        next_at: until,
        updated_at: now,
      }))
      .where('id', 'in', ({ selectFrom }) => selectFrom('ready').select('ready.id'))
      .where('state', 'in', ['queued', 'sending'])
      .where('next_at', '<=', now)
      .returning(claimed)
      .execute()
  )
}

/** Records the result of an attempt. A process that lost its claim can only record that the message was sent. */
export const record = async (
  db: Db,
  { id, attempts }: Pick<Claimed, 'id' | 'attempts'>,
  result: AttemptResult,
  now: string,
): Promise<void> => {
  const row = db
    .updateTable('outbox')
    .set({ ...result, updated_at: now })
    .where('id', '=', id)
  const allowed =
    result.state === 'sent'
      ? row.where('state', '<>', 'sent')
      : row.where('state', '=', 'sending').where('attempts', '=', attempts)
  await allowed.execute()
}

/** Queues the messages that a process was sending when it died. Only safe if no other process sends. */
export const releaseAll = (db: Db, now: string) =>
  db
    .updateTable('outbox')
    .set({ state: 'queued', next_at: now, updated_at: now })
    .where('state', '=', 'sending')
    .execute()

/** Unsent messages of a backup may have been sent after it was created: the operator decides, message by message. */
export const holdRestored = (db: Db, now: string) =>
  db
    .updateTable('outbox')
    .set({ state: 'dead', error: 'restored from a backup: it may have been sent since', updated_at: now })
    .where('state', 'in', ['queued', 'sending'])
    .execute()
