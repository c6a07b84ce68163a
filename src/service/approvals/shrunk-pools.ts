import { expressionBuilder } from 'kysely'
import { auditByService } from '../call/audit.ts'
import type { Service } from '../call/service.ts'
import type { Tables } from '../storage/schema.ts'
import { tally } from './completion.ts'
import { wakeOf } from './lines.ts'
import { auditSubject } from './record.ts'

export const tooFewLeft = 'too few of the people who were asked can still answer'

const batchSize = 100

/** True of a request that asks somebody who is no longer an active member with an active device. */
const hasLost = (dev: boolean) => {
  const { exists, selectFrom } = expressionBuilder<Tables & { a: Tables['approvals'] }, 'a'>()
  return exists(
    selectFrom('ballots as b')
      .whereRef('b.request_id', '=', 'a.request_id')
      .where('b.status', '<>', 'denied')
      .where(({ not, exists: any, selectFrom: from }) =>
        not(
          any(
            from('devices as d')
              .innerJoin('memberships as m', (join) =>
                join.onRef('m.org_id', '=', 'd.org_id').onRef('m.user_id', '=', 'd.user_id'),
              )
              .whereRef('d.org_id', '=', 'b.org_id')
              .whereRef('d.user_id', '=', 'b.user_id')
              .where('m.state', '=', 'active')
              .where('d.state', '=', 'active')
              .$if(!dev, (query) => query.where('d.kind', '=', 'phone'))
              .select('d.id'),
          ),
        ),
      )
      .select('b.id'),
  )
}

/** Ends the requests that the people who are left cannot complete, so that nobody waits for them in vain. */
export const endShrunk = async ({ storage, keyring, signals, dev }: Service): Promise<void> => {
  const found = await storage.read((db) =>
    db
      .selectFrom('approvals as a')
      .where('a.status', '=', 'pending')
      .where(hasLost(dev))
      .selectAll('a')
      .orderBy('a.id')
      .limit(batchSize)
      .execute(),
  )
  for (const row of found) {
    const { request_id, org_id } = row
    const ended = await storage.write(
      async (db) => {
        if ((await tally({ db, keyring, service: { dev } }, row)).isPossible) return false
        const now = storage.now()
        const expired = await db
          .updateTable('approvals')
          .set({ status: 'expired', detail: tooFewLeft, ended_at: now })
          .where('request_id', '=', request_id)
          .where('org_id', '=', org_id)
          .where('status', '=', 'pending')
          .returning('id')
          .executeTakeFirst()
        if (!expired) return false
        await auditByService(db, now, {
          orgId: org_id,
          action: 'expireApproval',
          subject: auditSubject(request_id),
          changes: ['status'],
        })
        return true
      },
      { org: org_id },
    )
    if (ended) signals.wake(wakeOf(row))
  }
}
