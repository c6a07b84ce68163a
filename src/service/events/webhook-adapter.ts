import { retryAfterMs } from '../../client/retry.ts'
import { auditByService } from '../call/audit.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Adapter, Outcome } from '../delivery/adapter.ts'
import type { Storage } from '../storage/storage.ts'
import { postEvent, whyUnanswered } from './post.ts'
import { openTarget, stopWebhook, type WebhookRow } from './webhook-rows.ts'

type Options = { storage: Storage; keyring: Pick<Keyring, 'unwrap'>; dev: boolean }

const isAccepted = (status: number): boolean => status >= 200 && status < 300

/** What went wrong with a status that is not 2xx. */
export const statusProblem = (status: number): string =>
  status >= 300 && status < 400
    ? `it answered ${status}, a redirect, which is not followed`
    : `it answered ${status}`

const stoppedAction = 'stopWebhook'

/** Stops a webhook, with a row in the audit. */
export const stopAudited = (
  { storage }: Pick<Options, 'storage'>,
  row: Pick<WebhookRow, 'webhook_id' | 'org_id'>,
  error: string,
): Promise<void> =>
  storage.write(
    async (db) => {
      const now = storage.now()
      if (!(await stopWebhook(db, row, error, now))) return
      await auditByService(db, now, {
        orgId: row.org_id,
        action: stoppedAction,
        subject: `webhook:${row.webhook_id}`,
        changes: ['state'],
      })
    },
    { org: row.org_id, routine: true },
  )

/** Sends an event to a webhook; `to` is its id, and the text is the body. Notes whether the receiver fails. */
export const createWebhookAdapter = ({ storage, keyring, dev }: Options): Adapter => {
  const note = async (row: WebhookRow, error: string | null): Promise<void> => {
    if (error === row.error && (error === null) === (row.failing_since === null)) return
    const now = storage.now()
    await storage.write(
      async (db) => {
        await db
          .updateTable('webhooks')
          .set(({ fn, val }) => ({
            error,
            failing_since: error === null ? null : fn.coalesce('failing_since', val(now)),
          }))
          .where('webhook_id', '=', row.webhook_id)
          .where('org_id', '=', row.org_id)
          .where('state', '=', 'active')
          .execute()
        if (error !== null) return
        // The receiver is back: what waits for its next attempt is sent now.
        await db
          .updateTable('outbox')
          .set({ next_at: now })
          .where('channel', '=', 'webhook')
          .where('recipient', '=', row.webhook_id)
          .where('state', '=', 'queued')
          .where('next_at', '>', now)
          .execute()
      },
      { org: null, routine: true },
    )
  }

  const failed = async (row: WebhookRow, error: string, after_ms?: number): Promise<Outcome> => {
    await note(row, error)
    return { state: 'retry', error, after_ms }
  }

  return async ({ to, org_id, text }, { signal }) => {
    const row = await storage.read((db) =>
      db
        .selectFrom('webhooks')
        .where('webhook_id', '=', to)
        .where('org_id', '=', org_id)
        .where('state', '=', 'active')
        .selectAll()
        .executeTakeFirst(),
    )
    if (!row) return { state: 'failed', error: 'the webhook was deleted or has stopped' }
    const now = storage.now()
    let target
    try {
      target = openTarget(keyring, row)
    } catch {
      return failed(row, 'another program changed the webhook in the store')
    }
    const { id } = JSON.parse(text) as { id: string }
    try {
      const { status, retryAfter } = await postEvent({ ...target, id, body: text, now, dev, signal })
      if (isAccepted(status)) {
        await note(row, null)
        return { state: 'sent', provider_id: id }
      }
      if (status === 410) {
        await stopAudited({ storage }, row, 'it answered 410: it wants no more events')
        return { state: 'failed', error: statusProblem(status) }
      }
      return await failed(row, statusProblem(status), retryAfterMs(retryAfter, new Date(now)))
    } catch (error) {
      return failed(row, whyUnanswered(error))
    }
  }
}
