import type { Counted } from '../../contract/quotas.ts'
import { addMs } from '../../core/iso-time.ts'
import type { Db } from '../storage/schema.ts'

export const bytesPerMib = 1024 * 1024
export const dayMs = 24 * 60 * 60_000

type Count = (db: Db, orgId: number, now: string) => Promise<number>

const rulesOf =
  (own: 'geofences' | 'timeslots', ofUsers: 'user_geofences' | 'user_timeslots'): Count =>
  async (db, orgId) => {
    let sum = 0
    for (const table of [own, ofUsers])
      sum += (
        await db
          .selectFrom(table)
          .where('org_id', '=', orgId)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
      ).count
    return sum
  }

/** How much of each quota an organization uses, in its own unit but for idempotency: bytes. */
export const counts: Record<Counted, Count> = {
  users: async (db, orgId) =>
    (
      await db
        .selectFrom('memberships')
        .where('org_id', '=', orgId)
        .where('state', 'in', ['pending', 'active'])
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  geofences: rulesOf('geofences', 'user_geofences'),
  timeslots: rulesOf('timeslots', 'user_timeslots'),
  pending_approvals: async (db, orgId, now) =>
    (
      await db
        .selectFrom('approvals')
        .where('org_id', '=', orgId)
        .where('status', '=', 'pending')
        .where('expires_at', '>', now)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  sms_per_day: async (db, orgId, now) =>
    (
      await db
        .selectFrom('outbox')
        .where('org_id', '=', orgId)
        .where('channel', '=', 'sms')
        .where('created_at', '>', addMs(now, -dayMs))
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
    ).count,
  idempotency_mib: async (db, orgId) =>
    (
      await db
        .selectFrom('idempotency')
        .where('org_id', '=', orgId)
        .select(({ fn }) => fn.sum<number | null>('bytes').as('count'))
        .executeTakeFirstOrThrow()
    ).count ?? 0,
}
