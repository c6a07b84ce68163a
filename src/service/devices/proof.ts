import type { Selectable } from 'kysely'
import type { Call } from '../call.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { ofActiveDevice } from './active.ts'
import type { DevicePolicy } from './policy.ts'

export type Member = { org_id: number; user_id: number }
type Proof = Selectable<Tables['devices']>['proof']

const devicesOf = (db: Db, { org_id, user_id }: Member) =>
  db.selectFrom('devices').where('org_id', '=', org_id).where('user_id', '=', user_id)

/** A key file counts only with --dev. */
const countingDevices = ({ db, dev }: Pick<Call, 'db' | 'dev'>, member: Member) =>
  devicesOf(db, member).$if(!dev, (query) => query.where('kind', '=', 'phone'))

export const hasActiveDevice = async (call: Pick<Call, 'db' | 'dev'>, member: Member): Promise<boolean> =>
  (await countingDevices(call, member)
    .where(ofActiveDevice('devices'))
    .select('id')
    .limit(1)
    .executeTakeFirst()) !== undefined

/** Whether the member ever had an active device, also before they were removed or deleted. */
export const everHadDevice = async (call: Pick<Call, 'db' | 'dev'>, member: Member): Promise<boolean> =>
  (await countingDevices(call, member)
    .where('bound_at', 'is not', null)
    .select('id')
    .limit(1)
    .executeTakeFirst()) !== undefined

/** What a device of this member must prove before it becomes active. */
export const proofRequired = async (
  call: Pick<Call, 'db' | 'dev'>,
  member: Member,
  { proof }: Pick<DevicePolicy, 'proof'>,
): Promise<Proof> => {
  if (await hasActiveDevice(call, member)) return 'device'
  return (await everHadDevice(call, member)) ? 'admin' : proof
}

/**
 * What the pending devices of a member wait for, after another of their devices changed: an active one approves them,
 * and a recovery that was approved meanwhile is over. Without any, an administrator does.
 */
export const settlePending = async (call: Pick<Call, 'db' | 'dev'>, member: Member): Promise<void> => {
  const hasActive = await hasActiveDevice(call, member)
  if (!hasActive && !(await everHadDevice(call, member))) return
  await call.db
    .updateTable('devices')
    .set(hasActive ? { proof: 'device', approved_at: null, active_from: null } : { proof: 'admin' })
    .where('org_id', '=', member.org_id)
    .where('user_id', '=', member.user_id)
    .where('state', '=', 'pending')
    .execute()
}
