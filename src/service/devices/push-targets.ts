import { expressionBuilder } from 'kysely'
import type { Db, Tables } from '../storage/schema.ts'

/** True of a device `d` of which at least one phone gets notifications. */
export const hasPush = () => {
  const { exists, selectFrom } = expressionBuilder<Tables & { d: Tables['devices'] }, 'd'>()
  return exists(selectFrom('device_push as p').whereRef('p.device_id', '=', 'd.id').select('p.device_id'))
}

export type PushTarget = { device_id: number; endpoint_hash: string; wrapped: string }

/** The subscriptions of a device, the newest first. */
export const readPushTargets = (db: Db, device_id: number): Promise<PushTarget[]> =>
  db
    .selectFrom('device_push')
    .where('device_id', '=', device_id)
    .select(['device_id', 'endpoint_hash', 'wrapped'])
    .orderBy('created_at', 'desc')
    .orderBy('endpoint_hash')
    .execute()

/** Deletes a subscription, unless the page has replaced it. */
export const dropPushTarget = async (db: Db, target: PushTarget): Promise<void> => {
  await db
    .deleteFrom('device_push')
    .where('device_id', '=', target.device_id)
    .where('endpoint_hash', '=', target.endpoint_hash)
    .where('wrapped', '=', target.wrapped)
    .execute()
}
