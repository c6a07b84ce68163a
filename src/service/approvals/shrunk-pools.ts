import { expressionBuilder, sql } from 'kysely'
import { Refusal } from '../../core/refusal.ts'
import { auditByService } from '../call/audit.ts'
import type { Service } from '../call/service.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { devicesOfVoter } from './ballots.ts'
import { tally } from './completion.ts'
import { isGenuine } from './genuine.ts'
import { wakeOf } from './lines.ts'
import { auditSubject } from './record.ts'
import { type ApprovalRow, endPending } from './rows.ts'

export const tooFewLeft = 'too few of the people who were asked can still answer'

/** True of a request that asks somebody who is no longer an active member with an active device. */
const hasLost = (db: Db, dev: boolean) => {
  const { exists, selectFrom } = expressionBuilder<Tables & { a: Tables['approvals'] }, 'a'>()
  return exists(
    selectFrom('ballots as b')
      .whereRef('b.request_id', '=', 'a.request_id')
      .where('b.status', '<>', 'denied')
      .where(({ not, exists: any }) => not(any(devicesOfVoter(db, dev, 'b'))))
      .select('b.id'),
  )
}

type Candidate = Pick<ApprovalRow, 'id'>

const pending = (db: Db) => db.selectFrom('approvals as a').where('a.status', '=', 'pending')

/** As the service writes a line of a group. */
const asksGroup = sql<boolean>`a.lines like '%"group":{%'`

/** The number of the last change of the groups of each organization that has a pending request to a group. */
const readGroupChanges = (db: Db) =>
  pending(db)
    .innerJoin('rule_heads as h', 'h.org_id', 'a.org_id')
    .where(asksGroup)
    .select(['h.org_id', 'h.counter'])
    .groupBy(['h.org_id', 'h.counter'])
    .execute()

/** Ends a request if the people who are left cannot complete it. */
const endOne = async ({ storage, keyring, signals, dev }: Service, { id }: Candidate): Promise<void> => {
  const read = (db: Db) => pending(db).where('a.id', '=', id).selectAll('a').executeTakeFirst()
  const isShrunk = async (db: Db, row: ApprovalRow | undefined): Promise<boolean> =>
    row !== undefined &&
    isGenuine(row, { keyring }) &&
    !(await tally({ db, keyring, service: { dev } }, row)).isPossible
  const found = await storage.read(async (db) => {
    const row = await read(db)
    return (await isShrunk(db, row)) ? row : undefined
  })
  if (!found) return
  const { request_id, org_id } = found
  const ended = await storage.write(
    async (db) => {
      const row = await read(db)
      if (!row || !(await isShrunk(db, row))) return false
      const now = storage.now()
      await endPending({ db, keyring }, row, {
        status: 'expired',
        detail: tooFewLeft,
        ended_at: now,
      }).execute()
      await auditByService({ db, keyring }, now, {
        orgId: org_id,
        action: 'expireApproval',
        subject: auditSubject(request_id),
        changes: ['status'],
      })
      return true
    },
    { org: org_id },
  )
  if (ended) signals.wake(wakeOf(found))
}

/**
 * Returns what ends the requests that the people who are left cannot complete, so that nobody waits for them in vain. It looks
 * at requests that lost somebody, and at those to groups once these have changed since it last looked.
 */
export const createShrunkSweep = ({ batchSize = 100 } = {}) => {
  const seen = new Map<number, number>()

  const endAll = async (service: Service, which: (db: Db) => ReturnType<typeof pending>): Promise<void> => {
    for (let after = 0; ;) {
      const found: Candidate[] = await service.storage.read((db) =>
        which(db).where('a.id', '>', after).select('a.id').orderBy('a.id').limit(batchSize).execute(),
      )
      for (const one of found)
        await endOne(service, one).catch((error: unknown) => {
          // Of one whose groups another program has changed; the others must not wait for it.
          if (!(error instanceof Refusal)) throw error
        })
      if (found.length < batchSize) return
      after = found.at(-1)!.id
    }
  }

  return async (service: Service): Promise<void> => {
    await endAll(service, (db) => pending(db).where(hasLost(db, service.dev)))
    for (const { org_id, counter } of await service.storage.read(readGroupChanges)) {
      if (seen.get(org_id) === counter) continue
      await endAll(service, (db) => pending(db).where('a.org_id', '=', org_id).where(asksGroup))
      seen.set(org_id, counter)
    }
  }
}
