import { addMs, dayMs } from '../../core/iso-time.ts'
import type { Service } from '../call/service.ts'
import type { Member } from '../call/tenant.ts'
import { notifyMember } from '../devices/notices.ts'
import type { Db } from '../storage/schema.ts'

// Nobody is notified when a grant is used. Once a day, its approver is told how often theirs were.

/** Uses in one sweep. The next one follows in seconds. */
const batchSize = 100

/** When to tell of a use: what is used until then is told with it. */
export const tellUseAt = (now: string): string => addMs(now, dayMs)

const untold = (db: Db) =>
  db.selectFrom('approvals').where('granted_by', 'is not', null).where('remind_at', 'is not', null)

/** Tells one approver of all uses since the last notice. The transaction decides, so that of several nodes one does. */
const tell = async (service: Service, { org_id, user_id }: Member): Promise<void> => {
  const { storage, accept } = service
  const told = await storage.write(
    async (db) => {
      const now = storage.now()
      const own = untold(db).where('org_id', '=', org_id).where('decided_by', '=', user_id)
      const isDue = await own.where('remind_at', '<=', now).select('id').limit(1).executeTakeFirst()
      if (!isDue) return false
      const uses = await db
        .updateTable('approvals')
        .set({ remind_at: null })
        .where('id', 'in', own.select('id'))
        .returning('id')
        .execute()
      const send = (message: Parameters<typeof accept>[1]) => accept({ db, now }, message)
      const count = uses.length === 1 ? '1 request was' : `${uses.length} requests were`
      const text = [
        `Since yesterday, ${count} approved by what you allowed before, and nobody was asked.`,
        `See what it was: ${service.publicUrl}/approver#history`,
        'To end what you allowed: svc grant revoke',
      ].join('\n')
      const notice = { about: 'grant', subject: 'What you allowed was used', text } as const
      await notifyMember({ db, now, service, send }, { org_id, user_id }, notice)
      return true
    },
    { org: org_id },
  )
  if (told) service.deliver()
}

/** Tells each approver whose grants were first used a day ago. */
export const tellGrantUses = async (service: Service): Promise<void> => {
  const { storage } = service
  const found = await storage.read((db) =>
    untold(db)
      .where('remind_at', '<=', storage.now())
      .select(['org_id', 'decided_by'])
      .orderBy('remind_at')
      .limit(batchSize)
      .execute(),
  )
  const members = new Map(found.map((use) => [`${use.org_id} ${use.decided_by}`, use]))
  for (const { org_id, decided_by } of members.values()) await tell(service, { org_id, user_id: decided_by! })
}
