import { expressionBuilder } from 'kysely'
import type { Db, Tables } from '../storage/schema.ts'

/** True of a device `d` of which at least one phone gets notifications. */
export const hasPush = () => {
  const { exists, or, selectFrom } = expressionBuilder<Tables & { d: Tables['devices'] }, 'd'>()
  return or([
    exists(selectFrom('device_push as p').whereRef('p.device_id', '=', 'd.id').select('p.device_id')),
    exists(selectFrom('push_subscriptions as s').whereRef('s.device_id', '=', 'd.id').select('s.device_id')),
  ])
}

export type PushTarget = { device_id: number; endpoint_hash: string | null; wrapped: string }

/** The subscriptions of a device, the newest first. `endpoint_hash` is null for one from before there were several. */
export const readPushTargets = async (db: Db, device_id: number): Promise<PushTarget[]> => [
  ...(await db
    .selectFrom('device_push')
    .where('device_id', '=', device_id)
    .select(['device_id', 'endpoint_hash', 'wrapped'])
    .orderBy('created_at', 'desc')
    .orderBy('endpoint_hash')
    .execute()),
  ...(
    await db
      .selectFrom('push_subscriptions')
      .where('device_id', '=', device_id)
      .select(['device_id', 'wrapped'])
      .execute()
  ).map((row) => Object.assign(row, { endpoint_hash: null })),
]

/** Deletes a subscription, unless the page has replaced it. */
export const dropPushTarget = async (db: Db, target: PushTarget): Promise<void> => {
  const { device_id, endpoint_hash, wrapped } = target
  if (endpoint_hash === null)
    await db
      .deleteFrom('push_subscriptions')
      .where('device_id', '=', device_id)
      .where('wrapped', '=', wrapped)
      .execute()
  else
    await db
      .deleteFrom('device_push')
      .where('device_id', '=', device_id)
      .where('endpoint_hash', '=', endpoint_hash)
      .where('wrapped', '=', wrapped)
      .execute()
}
