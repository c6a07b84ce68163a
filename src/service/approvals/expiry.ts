import { expressionBuilder } from 'kysely'
import type { Log } from '../../core/log.ts'
import { Refusal } from '../../core/refusal.ts'
import { auditByService } from '../call/audit.ts'
import type { Call } from '../call/call.ts'
import { repeat } from '../call/repeat.ts'
import type { Service } from '../call/service.ts'
import { ofLiveSignIn } from '../call/sign-in.ts'
import { endCooling } from '../devices/cooling.ts'
import { siteProblem } from '../devices/site.ts'
import { inParts } from '../storage/in-parts.ts'
import type { WakeTarget } from '../storage/node-message.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { lockOrganizations } from '../storage/transaction.ts'
import { askAgain } from './ask-again.ts'
import { wakeOf } from './lines.ts'
import { tellGrantUses } from './grant-notices.ts'
import { remindDue } from './reminders.ts'
import { createShrunkSweep } from './shrunk-pools.ts'
import { endPending, type RequestKey } from './rows.ts'
import { auditSubject } from './record.ts'

/**
 * True of a request whose API key is neither revoked nor expired. Tool servers and local programs have the key 0. What a
 * person asked after a sign-in waits for the next one.
 */
export const hasLiveKey = (now: string) => {
  const { eb, exists, or, selectFrom } = expressionBuilder<Tables, 'approvals'>()
  return or([
    eb('approvals.key_id', '=', 0),
    exists(
      selectFrom('api_keys as k')
        .whereRef('k.id', '=', 'approvals.key_id')
        .where('k.revoked_at', 'is', null)
        .where(ofLiveSignIn('k'))
        .where((key) =>
          key.or([
            key('k.expires_at', 'is', null),
            key('k.expires_at', '>', now),
            key.and([key('k.client_id', 'is not', null), key('k.audience', 'is', null)]),
          ]),
        )
        .select('k.id'),
    ),
  ])
}

const batchSize = 500

export const tooLate = 'no decision in time'
export const keyEnded = 'the API key of the requester was revoked or has expired'
export const endedByReport = 'the approver reported another request of this requester as unexpected'
export const deniedTogether =
  'denied with one signature for several requests of this requester; there is no receipt'
export const endedByGrant = 'the grant under which it was approved was ended'
export const endedByRestore = 'the service was restored from a backup'

/** A request that ended without a decision; `detail` is the reason. */
export const requestExpired = (detail?: string | null): Refusal =>
  new Refusal(
    410,
    'expired',
    detail && detail !== tooLate ? `The request has ended: ${detail}` : 'The request has expired',
    { hint: askAgain },
  )

/** True of a request that can no longer be decided: it or its key has expired. */
const isOver = (now: string) => {
  const { eb, not, or } = expressionBuilder<Tables, 'approvals'>()
  return or([eb('approvals.expires_at', '<=', now), not(hasLiveKey(now))])
}

const overdue = (db: Db, now: string) =>
  db.selectFrom('approvals').where('status', '=', 'pending').where(isOver(now))

/** Nobody needs the rows of a list that ended unanswered, and they would be kept for as long as the request. */
export const dropRows = (db: Db, { request_id, org_id }: RequestKey) =>
  db.deleteFrom('batch_rows').where('request_id', '=', request_id).where('org_id', '=', org_id).execute()

/**
 * Commits what the clock or a revoked key has ended, so that a request that was reported as ended never becomes pending
 * again. Returns the requests that ended. Inside a transaction.
 */
export const expireDue = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  now: string,
  { keys, ...only }: { org_id?: number; request_id?: string; keys?: readonly number[] } = {},
) => {
  const due = await overdue(db, now)
    .where(({ and }) => and(only))
    .$if(keys !== undefined, (query) => query.where('key_id', 'in', keys!))
    .selectAll()
    .orderBy('id')
    .limit(batchSize)
    .execute()
  await lockOrganizations(
    db,
    due.map(({ org_id }) => org_id),
  )
  const ended = []
  for (const one of due) {
    const { org_id, request_id, expires_at, lines, break_glass } = one
    const detail = expires_at <= now ? tooLate : keyEnded
    const row = await endPending({ db, keyring }, one, { status: 'expired', detail, ended_at: now })
      .where(isOver(now))
      .returning('id')
      .executeTakeFirst()
    if (!row) continue
    await dropRows(db, { request_id, org_id })
    await auditByService({ db, keyring }, now, {
      orgId: org_id,
      action: 'expireApproval',
      subject: auditSubject(request_id),
      changes: ['status'],
    })
    ended.push({ ...wakeOf({ request_id, org_id, lines, break_glass }), detail })
  }
  return ended
}

/** Ends every request that can no longer be decided, one organization at a time. Writes only if there are any. */
export const sweep = async ({ storage, keyring, signals }: Service): Promise<void> => {
  const nextDue = () =>
    storage.read((db) => overdue(db, storage.now()).select('org_id').limit(1).executeTakeFirst())
  for (let due = await nextDue(); due; due = await nextDue()) {
    const { org_id } = due
    const ended = await storage.write((db) => expireDue({ db, keyring }, storage.now(), { org_id }), {
      org: org_id,
    })
    for (const one of ended) signals.wake(one)
  }
}

/** At most this many requests in one query. */
const askedAtMost = 500

/** The requests among these that have ended. Ends those that can no longer be decided. */
export const endedAmong = async (
  { storage, keyring }: Pick<Service, 'storage' | 'keyring'>,
  requests: readonly string[],
): Promise<WakeTarget[]> => {
  const readEnded = (some: string[]) =>
    storage.read((db) =>
      db
        .selectFrom('approvals')
        .where('request_id', 'in', some)
        .where(({ eb, or }) => or([eb('status', '<>', 'pending'), isOver(storage.now())]))
        .select(['request_id', 'org_id', 'lines', 'break_glass', 'status'])
        .execute(),
    )
  const found = await inParts(requests, readEnded, askedAtMost)
  const due = found.filter(({ status }) => status === 'pending')
  for (const org_id of new Set(due.map((one) => one.org_id)))
    await storage.write((db) => expireDue({ db, keyring }, storage.now(), { org_id }), {
      org: org_id,
      routine: true,
    })
  return found.map(wakeOf)
}

const sweepMs = 5_000

/** Sweeps regularly, and warns once if registered devices cannot sign at this address. Returns a function that stops it. */
export const watchApprovals = (service: Service, log: Log): (() => Promise<void>) => {
  const { storage, publicUrl, signals } = service
  const warn = (message: string): void => log({ at: storage.now(), level: 'warn', message })
  const checked = storage
    .read((db) => siteProblem(db, publicUrl))
    .then(
      (problem) => problem === undefined || warn(problem),
      (error: unknown) => warn(String(error)),
    )
  const endShrunk = createShrunkSweep()
  // If the store cannot be written now, the next sweep tries again. Until then each read compares with the clock.
  const stops = [sweep, endShrunk, remindDue, tellGrantUses, endCooling].map((job) =>
    repeat({
      // Nodes that started together do not sweep at the same moments for long.
      everyMs: sweepMs * (0.8 + 0.2 * Math.random()),
      run: () => job(service),
      failed: () => undefined,
    }),
  )
  return async () => {
    signals.stop()
    await Promise.all([checked, ...stops.map((stop) => stop())])
  }
}
