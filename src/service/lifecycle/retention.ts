import { addMs } from '../../core/iso-time.ts'
import type { Service } from '../call/service.ts'
import type { Db } from '../storage/schema.ts'
import { clearApprovals } from './cleared-approvals.ts'

/** Rows of one transaction: no write waits longer than these take. */
const atMost = 200

const forgetVerifications = async (db: Db, before: string): Promise<number> => {
  const gone = await db
    .deleteFrom('verifications')
    .where('id', 'in', (query) =>
      query
        .selectFrom('verifications')
        .where('created_at', '<', before)
        .select('id')
        .orderBy('created_at')
        .limit(atMost),
    )
    .returning('id')
    .execute()
  return gone.length
}

const forgetAnswers = async (db: Db, before: string): Promise<number> => {
  const old = await db
    .selectFrom('idempotency')
    .where('created_at', '<', before)
    .select(['key_id', 'idempotency_key'])
    .orderBy('created_at')
    .limit(atMost)
    .execute()
  for (const { key_id, idempotency_key } of old)
    await db
      .deleteFrom('idempotency')
      .where('key_id', '=', key_id)
      .where('idempotency_key', '=', idempotency_key)
      .execute()
  return old.length
}

type Step = (db: Db, now: string) => Promise<number>

/** Removes what is older than the periods, a few rows in each transaction; others write between them. */
export const sweepRetention = async (
  { storage, periods }: Pick<Service, 'storage' | 'periods'>,
  isOver: () => boolean = () => false,
): Promise<void> => {
  const steps: Step[] = [
    (db, now) => forgetAnswers(db, addMs(now, -periods.idempotencyMs)),
    (db, now) => forgetVerifications(db, addMs(now, -periods.verificationsMs)),
    (db, now) => clearApprovals(db, { now, before: addMs(now, -periods.approvalsMs), atMost }),
  ]
  for (const step of steps)
    for (let done = atMost; done === atMost && !isOver();)
      done = await storage.write((db) => step(db, storage.now()))
}
