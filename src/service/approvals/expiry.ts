import { appendAudit } from '../audit.ts'
import { Refusal } from '../refusal.ts'
import type { Service } from '../service.ts'
import type { Db } from '../storage/schema.ts'
import { subjectOf } from './record.ts'
import type { Waited } from './waiting.ts'

const atOnce = 500

export const lapsed = (): Refusal =>
  new Refusal(410, 'expired', 'The request has expired', { hint: 'Ask again: svc approve request' })

/**
 * Makes durable what the clock has decided, so that nobody who was told of it is ever told otherwise. Answers the
 * requests that ended. Inside a transaction.
 */
export const expireDue = async (db: Db, now: string, only?: string): Promise<Waited[]> => {
  const due = await db
    .selectFrom('approvals')
    .where('status', '=', 'pending')
    .where('expires_at', '<=', now)
    .$if(only !== undefined, (query) => query.where('request_id', '=', only!))
    .select(['id', 'org_id', 'user_id', 'request_id'])
    .orderBy('id')
    .limit(atOnce)
    .execute()
  const ended: Waited[] = []
  for (const { id, org_id, user_id, request_id } of due) {
    const row = await db
      .updateTable('approvals')
      .set({ status: 'expired', detail: 'nobody decided in time', ended_at: now })
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .where('expires_at', '<=', now)
      .returning('id')
      .executeTakeFirst()
    if (!row) continue
    await appendAudit(db, {
      orgId: org_id,
      at: now,
      actor: 'service',
      action: 'expireApproval',
      subject: subjectOf(request_id),
      changes: ['status'],
      requestId: '-',
    })
    ended.push({ request_id, org_id, user_id })
  }
  return ended
}

const isDue = async ({ storage }: Service): Promise<boolean> => {
  const row = await storage.read((db) =>
    db
      .selectFrom('approvals')
      .where('status', '=', 'pending')
      .where('expires_at', '<=', storage.now())
      .select('id')
      .limit(1)
      .executeTakeFirst(),
  )
  return row !== undefined
}

/** Ends all requests whose time is over, and wakes who waits for them. Writes only when there are some. */
export const sweep = async (service: Service): Promise<void> => {
  const { storage, waiting } = service
  while (await isDue(service))
    for (const ended of await storage.write((db) => expireDue(db, storage.now()))) waiting.wake(ended)
}
