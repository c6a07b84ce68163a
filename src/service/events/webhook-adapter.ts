import { retryAfterMs } from '../../client/retry.ts'
import type { EventRecord } from '../../contract/event.ts'
import { auditByService } from '../call/audit.ts'
import type { Service } from '../call/service.ts'
import type { Adapter, Outcome } from '../delivery/adapter.ts'
import { chatMessage, requestIdOf, type Told } from './chat-message.ts'
import { postEvent, whyUnanswered } from './post.ts'
import { openTarget, type Target } from '../call/webhook-target.ts'
import { stopWebhook, type WebhookRow } from './webhook-rows.ts'

type Options = Pick<Service, 'storage' | 'keyring' | 'publicUrl' | 'dev' | 'webhookNetworks'> & {
  /** Reads what may be told of a request of an organization. */
  tell: (request_id: string, orgId: number) => Promise<Told | undefined>
}

const isAccepted = (status: number): boolean => status >= 200 && status < 300

/** What went wrong with a status that is not 2xx. */
export const statusProblem = (status: number): string =>
  status >= 300 && status < 400
    ? `it answered ${status}, a redirect, which is not followed`
    : `it answered ${status}`

/** Stops a webhook, with a row in the audit. */
export const stopAudited = (
  { storage, keyring }: Pick<Options, 'storage' | 'keyring'>,
  row: Pick<WebhookRow, 'webhook_id' | 'org_id'>,
  error: string,
): Promise<void> =>
  storage.write(
    async (db) => {
      const now = storage.now()
      if (!(await stopWebhook(db, row, error, now))) return
      await auditByService({ db, keyring }, now, {
        orgId: row.org_id,
        action: 'stopWebhook',
        subject: `webhook:${row.webhook_id}`,
        changes: ['state'],
      })
    },
    { org: row.org_id, routine: true },
  )

/** Sends an event to a webhook; `to` is its id, and the text is the body. Notes whether the receiver fails. */
export const createWebhookAdapter = ({
  storage,
  keyring,
  tell,
  publicUrl,
  dev,
  webhookNetworks: networks,
}: Options): Adapter => {
  /** Reads what a request says for each attempt, so that the outbox has no copy of it. */
  const bodyOf = async (text: string, { org_id, format, scopes }: Target): Promise<string> => {
    if (format === 'json' && scopes.length === 0) return text
    const event = JSON.parse(text) as EventRecord
    const request_id = scopes.includes('read') ? requestIdOf(event) : undefined
    const told = request_id === undefined ? undefined : await tell(request_id, org_id)
    if (format !== 'json') return chatMessage(format, { event, told, page: `${publicUrl}/approver` })
    if (!told) return text
    const { action, rules } = told
    return JSON.stringify({ ...event, data: { ...event.data, request: { action, rules } } })
  }

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
    const body = await bodyOf(text, target)
    try {
      const { status, retryAfter } = await postEvent({ ...target, id, body, now, dev, networks, signal })
      if (isAccepted(status)) {
        await note(row, null)
        return { state: 'sent', provider_id: id }
      }
      if (status === 410) {
        await stopAudited({ storage, keyring }, row, 'it answered 410: it wants no more events')
        return { state: 'failed', error: statusProblem(status) }
      }
      return await failed(row, statusProblem(status), retryAfterMs(retryAfter, new Date(now)))
    } catch (error) {
      return failed(row, whyUnanswered(error))
    }
  }
}
