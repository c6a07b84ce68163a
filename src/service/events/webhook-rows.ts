import type { Db, Tables } from '../storage/schema.ts'

export type WebhookRow = Tables['webhooks']

export const typesOf = ({ types }: Pick<WebhookRow, 'types'>): string[] => types.split(',').filter(Boolean)

/** The id of the message that carries an event to a webhook: a replay uses the same. */
export const messageIdOf = (webhook_id: string, seq: number): string => `msg_${webhook_id}_${seq}`

const seqOf = (message_id: string): number => Number(message_id.slice(message_id.lastIndexOf('_') + 1))

/** The messages to a webhook. */
export const messagesTo = (db: Db, webhook_id: string) =>
  db.selectFrom('outbox').where('channel', '=', 'webhook').where('recipient', '=', webhook_id)

/**
 * Stops a webhook at the first event that was not delivered, where a replay continues. Its messages are removed, because the
 * audit log keeps their events. False if it does not run.
 */
export const stopWebhook = async (
  db: Db,
  { webhook_id, org_id }: Pick<WebhookRow, 'webhook_id' | 'org_id'>,
  error: string,
  now: string,
): Promise<boolean> => {
  const stopped = await db
    .updateTable('webhooks')
    .set(({ fn, val }) => ({
      state: 'stopped' as const,
      failing_since: fn.coalesce('failing_since', val(now)),
      error,
      updated_at: now,
    }))
    .where('webhook_id', '=', webhook_id)
    .where('org_id', '=', org_id)
    .where('state', '=', 'active')
    .returning('cursor_seq')
    .executeTakeFirst()
  if (!stopped) return false
  const undelivered = await messagesTo(db, webhook_id)
    .where('state', 'in', ['queued', 'sending'])
    .select('message_id')
    .execute()
  const first = Math.min(stopped.cursor_seq + 1, ...undelivered.map(({ message_id }) => seqOf(message_id)))
  await db
    .updateTable('webhooks')
    .set({ cursor_seq: first - 1 })
    .where('webhook_id', '=', webhook_id)
    .where('org_id', '=', org_id)
    .execute()
  await db
    .deleteFrom('outbox')
    .where('channel', '=', 'webhook')
    .where('recipient', '=', webhook_id)
    .where('state', 'in', ['queued', 'sending'])
    .execute()
  return true
}

/** Stops every webhook of a restored store, which may be a copy: it must not report events to the receivers of another. */
export const stopRestored = async (db: Db, now: string): Promise<void> => {
  const rows = await db
    .selectFrom('webhooks')
    .where('state', '=', 'active')
    .select(['webhook_id', 'org_id'])
    .execute()
  for (const row of rows) await stopWebhook(db, row, 'restored from a backup', now)
}
