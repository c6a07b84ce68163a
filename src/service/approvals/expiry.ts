import { expressionBuilder } from 'kysely'
import type { Log } from '../../core/log.ts'
import { Refusal } from '../../core/refusal.ts'
import { auditByService } from '../call/audit.ts'
import type { Service, Waited } from '../call/service.ts'
import { endCooling } from '../devices/cooling.ts'
import { siteProblem } from '../devices/site.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { subjectOf } from './record.ts'

/** True of a request whose API key is neither revoked nor expired. Tool servers and local programs have the key 0. */
export const ofLiveKey = (now: string) => {
  const { eb, exists, or, selectFrom } = expressionBuilder<Tables, 'approvals'>()
  return or([
    eb('approvals.key_id', '=', 0),
    exists(
      selectFrom('api_keys as k')
        .whereRef('k.id', '=', 'approvals.key_id')
        .where('k.revoked_at', 'is', null)
        .where((key) => key.or([key('k.expires_at', 'is', null), key('k.expires_at', '>', now)]))
        .select('k.id'),
    ),
  ])
}

const atOnce = 500

const tooLate = 'nobody decided in time'
const keyEnded = 'the API key of the requester was revoked or has expired'
export const upgraded = 'the service was upgraded, and people now sign more than this request has'

/** A request that ended without a decision; `detail` says why. */
export const lapsed = (detail?: string | null): Refusal =>
  new Refusal(
    410,
    'expired',
    detail && detail !== tooLate ? `The request has ended: ${detail}` : 'The request has expired',
    { hint: 'Ask again: svc approve request' },
  )

/** Nobody can decide it any more: its time is over, its key has ended, or its format. */
const isOver = (now: string) => {
  const { eb, not, or } = expressionBuilder<Tables, 'approvals'>()
  return or([eb('approvals.expires_at', '<=', now), eb('approvals.format', '=', 1), not(ofLiveKey(now))])
}

/**
 * Makes durable what the clock or a revoked key has decided, so that nobody who was told of it is ever told otherwise.
 * Answers the requests that ended. Inside a transaction.
 */
export const expireDue = async (
  db: Db,
  now: string,
  only: { org_id?: number; request_id?: string } = {},
): Promise<(Waited & { detail: string })[]> => {
  const due = await db
    .selectFrom('approvals')
    .where('status', '=', 'pending')
    .where(isOver(now))
    .$if(only.org_id !== undefined, (query) => query.where('org_id', '=', only.org_id!))
    .$if(only.request_id !== undefined, (query) => query.where('request_id', '=', only.request_id!))
    .select(['id', 'org_id', 'user_id', 'request_id', 'expires_at', 'format'])
    .orderBy('id')
    .limit(atOnce)
    .execute()
  const ended: (Waited & { detail: string })[] = []
  for (const { id, org_id, user_id, request_id, expires_at, format } of due) {
    const detail = expires_at <= now ? tooLate : format === 1 ? upgraded : keyEnded
    const row = await db
      .updateTable('approvals')
      .set({ status: 'expired', detail, ended_at: now })
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .where(isOver(now))
      .returning('id')
      .executeTakeFirst()
    if (!row) continue
    await auditByService(db, now, {
      orgId: org_id,
      action: 'expireApproval',
      subject: subjectOf(request_id),
      changes: ['status'],
    })
    ended.push({ request_id, org_id, user_id, detail })
  }
  return ended
}

/** An organization that has requests to end. */
const nextDue = ({ storage }: Service) =>
  storage.read((db) =>
    db
      .selectFrom('approvals')
      .where('status', '=', 'pending')
      .where(isOver(storage.now()))
      .select('org_id')
      .limit(1)
      .executeTakeFirst(),
  )

/** Ends all requests that nobody can decide any more, and wakes who waits for them. Writes only when there are some. */
export const sweep = async (service: Service): Promise<void> => {
  const { storage, waiter } = service
  for (let due = await nextDue(service); due; due = await nextDue(service)) {
    const { org_id } = due
    const ended = await storage.write((db) => expireDue(db, storage.now(), { org_id }), { org: org_id })
    for (const one of ended) waiter.wake(one)
  }
}

const sweepMs = 5_000

/** Ends requests whose time is over, also when nobody looks; warns when devices cannot sign at this address. Answers how to stop. */
export const watchApprovals = (service: Service, log: Log): (() => void) => {
  const { storage, publicUrl, waiter } = service
  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })
  void storage
    .read((db) => siteProblem(db, publicUrl))
    .then(
      (problem) => problem === undefined || warn(problem),
      (error: unknown) => warn(String(error)),
    )
  // A store that cannot be written now is tried again: until then each read looks at the clock itself.
  const look = (): void => {
    void sweep(service).catch(() => undefined)
    void endCooling(service).catch(() => undefined)
  }
  look()
  const timer = setInterval(look, sweepMs).unref()
  return () => {
    clearInterval(timer)
    waiter.stop()
  }
}
