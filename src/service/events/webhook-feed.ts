import { type EventRecord, passes } from '../../contract/event.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Log } from '../../core/log.ts'
import { countRows } from '../call/pagination.ts'
import type { Service } from '../call/service.ts'
import { repeat } from '../call/repeat.ts'
import { nameOf } from '../delivery/attempt.ts'
import { enqueueAs } from '../delivery/enqueue.ts'
import { auditTopic } from '../call/signals/signals.ts'
import { pause } from '../call/signals/wait.ts'
import { statement } from '../storage/statement.ts'
import { withHead } from './audit-heads.ts'
import { toEvent } from './event.ts'
import { readRows } from './stream.ts'
import { stopAudited } from './webhook-adapter.ts'
import { messageIdOf, messagesTo, typesOf, type WebhookRow } from './webhook-rows.ts'

/** Rows of an audit that are read at once. */
const batch = 100
/** Events that can wait for one webhook. The others stay in the audit log until there is room. */
const waitingAtMost = 1_000
/** How far the stored place of a webhook may be behind if none of the rows since is for it. */
const unstoredAtMost = 1_000
/** How long an event is tried, and how long a webhook may fail before it is stopped. */
const triedMs = 3 * dayMs

type Feed = Pick<Service, 'storage' | 'keyring' | 'publicUrl' | 'signals' | 'deliver'>

type Fed = Pick<WebhookRow, 'webhook_id' | 'org_id' | 'types' | 'cursor_seq' | 'failing_since'> & {
  end: number | null
}

/** Reads the webhooks whose audit has grown, with its last row. After each commit. */
const readBehind = statement<Record<never, never>, Fed>((db) =>
  db
    .selectFrom('webhooks as w')
    .where('w.state', '=', 'active')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('audit as a')
          .select('a.seq')
          .whereRef('a.org_id', '=', 'w.org_id')
          .whereRef('a.seq', '>', 'w.cursor_seq'),
      ),
    )
    .select(['w.webhook_id', 'w.org_id', 'w.types', 'w.cursor_seq', 'w.failing_since'])
    .select(({ selectFrom }) =>
      selectFrom('audit as b')
        .whereRef('b.org_id', '=', 'w.org_id')
        .select(({ fn }) => fn.max('b.seq').as('seq'))
        .as('end'),
    )
    .orderBy('w.webhook_id'),
)

/**
 * Puts the events of one webhook into the outbox, and moves its place in the audit with them in one transaction, under the
 * condition that nobody else has moved it. Returns where the next call continues, and whether that is stored; undefined if the webhook is full.
 */
const feed = async (
  service: Feed,
  webhook: Fed,
  from: number,
): Promise<{ seq: number; stored: boolean } | undefined> => {
  const { storage, keyring } = service
  const { webhook_id, org_id, cursor_seq } = webhook
  const rows = await storage.read((db) => readRows(db, org_id, from, batch))
  const types = typesOf(webhook)
  const events: EventRecord[] = []
  for (const row of rows) {
    const event = toEvent(row)
    if (event && passes(event.type, types)) events.push(await withHead(service, event, row))
  }
  const last = rows.at(-1)?.seq ?? from
  if (events.length === 0 && last - cursor_seq < unstoredAtMost) return { seq: last, stored: false }
  return storage.write(
    async (db) => {
      const waiting = await countRows(messagesTo(db, webhook_id).where('state', 'in', ['queued', 'sending']))
      if (events.length > 0 && waiting >= waitingAtMost) return undefined
      const moved = await db
        .updateTable('webhooks')
        .set({ cursor_seq: last })
        .where('webhook_id', '=', webhook_id)
        .where('org_id', '=', org_id)
        .where('cursor_seq', '=', cursor_seq)
        .where('state', '=', 'active')
        .returning('webhook_id')
        .executeTakeFirst()
      // Another node has fed it, or a replay has moved it.
      if (!moved) return undefined
      const now = storage.now()
      const expires_at = addMs(now, triedMs)
      const messages = events.map((event) => ({
        message_id: messageIdOf(webhook_id, event.data.seq),
        message: {
          org_id,
          channel: 'webhook' as const,
          kind: 'event' as const,
          to: webhook_id,
          text: JSON.stringify(event),
          expires_at,
        },
      }))
      await enqueueAs({ db, now, keyring }, messages)
      return { seq: last, stored: true }
    },
    { org: null, routine: true },
  )
}

const pollMs = 1_000

/** Feeds webhooks after each commit of this node, and regularly for those of other nodes. Returns a function that stops it. */
export const watchWebhooks = (service: Feed, log: Log): (() => Promise<void>) => {
  const { storage, signals } = service
  // How far the audit was read for a webhook whose stored place is behind, because no row was for it.
  const scanned = new Map<string, { cursor: number; seq: number }>()
  const stop = new AbortController()
  const isStopped = (): boolean => stop.signal.aborted || signals.stopped

  const placeOf = ({ webhook_id, cursor_seq }: Fed): number => {
    const known = scanned.get(webhook_id)
    return known?.cursor === cursor_seq ? known.seq : cursor_seq
  }

  const feedAll = async (): Promise<void> => {
    for (let again = true; again && !isStopped();) {
      again = false
      const behind = (await storage.read((db) => readBehind(db, {}))).rows
      for (const webhook of behind) {
        const from = placeOf(webhook)
        if (isStopped() || (webhook.end ?? 0) <= from) continue
        const fed = await feed(service, webhook, from)
        if (!fed) continue
        if (fed.seq < (webhook.end ?? 0)) again = true
        if (fed.stored) scanned.delete(webhook.webhook_id)
        else scanned.set(webhook.webhook_id, { cursor: webhook.cursor_seq, seq: fed.seq })
        if (fed.stored) service.deliver()
      }
      const ids = new Set(behind.map(({ webhook_id }) => webhook_id))
      for (const id of scanned.keys()) if (!ids.has(id)) scanned.delete(id)
    }
  }

  const follow = async (): Promise<void> => {
    while (!isStopped()) {
      // Listen before reading: a commit between the two wakes this listener.
      const listening = signals.listen([auditTopic('*')])
      // If the store is unavailable, the next poll tries again.
      await feedAll().catch(() => undefined)
      await pause(listening.woken, pollMs, stop.signal)
      listening.close()
    }
  }

  const stopFailing = async (): Promise<void> => {
    const before = addMs(storage.now(), -triedMs)
    const failing = await storage.read((db) =>
      db
        .selectFrom('webhooks')
        .where('state', '=', 'active')
        .where('failing_since', '<', before)
        .select(['webhook_id', 'org_id', 'error'])
        .execute(),
    )
    for (const row of failing) await stopAudited(service, row, row.error ?? 'it failed for three days')
  }

  const stopWatching = repeat({
    everyMs: 60_000,
    run: stopFailing,
    failed: (error) =>
      log({
        at: storage.now(),
        level: 'warn',
        message: `Webhooks that fail could not be stopped: ${nameOf(error)}`,
      }),
  })
  const following = follow()
  return async () => {
    stop.abort()
    await stopWatching()
    await following
  }
}
