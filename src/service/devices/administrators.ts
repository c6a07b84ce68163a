import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import type { Db, Tables } from '../storage/schema.ts'
import { activeDevices } from './active.ts'
import type { Member } from './proof.ts'
import { isAuthenticDevice } from './rows.ts'

type Role = Tables['memberships']['role']

/** Roles that accept members and approve recoveries. */
export const adminRoles: ('admin' | 'operator')[] = ['admin', 'operator']

export const isAdminRole = (role: Role): boolean => (adminRoles as Role[]).includes(role)

export type Cooling = { promoted_at: string | null; admin_from: string | null }

/** An administrator who need not wait: the first of an organization, or promoted with the device of another. */
export const atOnce: Cooling = { promoted_at: null, admin_from: null }

/** When a new administrator can approve recoveries, where no device of an administrator approved the promotion. */
export const coolingOf = async (
  call: Pick<Call, 'db' | 'dev' | 'deviceProof' | 'now'>,
  org_id: number,
): Promise<Cooling> => {
  const { recoveryDelayMs } = await readDevicePolicy(call, org_id)
  if (recoveryDelayMs === 0) return atOnce
  return { promoted_at: call.now, admin_from: addMs(call.now, recoveryDelayMs) }
}

/** What a change of role brings with it: nothing for who is an administrator already. */
export const promotionOf = async (
  call: Call,
  { org_id, user_id }: Member,
  role: Role,
): Promise<Cooling | undefined> => {
  if (!isAdminRole(role)) return undefined
  const present = await call.db
    .selectFrom('memberships')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('state', 'in', ['active', 'pending'])
    .where('role', 'in', adminRoles)
    .select('id')
    .executeTakeFirst()
  return present ? undefined : coolingOf(call, org_id)
}

/** Active administrators of an organization. */
export const administrators = (db: Db, org_id: number) =>
  db
    .selectFrom('memberships as m')
    .where('m.org_id', '=', org_id)
    .where('m.state', '=', 'active')
    .where('m.role', 'in', adminRoles)

/**
 * From when on an administrator can approve recoveries; undefined when they can now. A promotion that lies in the future
 * was made by a clock that was wrong: its period begins again now.
 */
export const waitsUntil = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  { org_id, user_id }: Member,
): Promise<string | undefined> => {
  const { promoted_at, admin_from } = await administrators(db, org_id)
    .where('m.user_id', '=', user_id)
    .select(['m.promoted_at', 'm.admin_from'])
    .executeTakeFirstOrThrow()
  if (promoted_at === null || admin_from === null) return undefined
  if (promoted_at <= now) return admin_from <= now ? undefined : admin_from
  const restarted = addMs(now, Math.max(0, Date.parse(admin_from) - Date.parse(promoted_at)))
  await db
    .updateTable('memberships')
    .set({ promoted_at: now, admin_from: restarted })
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .execute()
  return restarted
}

/** Whether another administrator could approve the recovery of this member with a device of theirs. */
export const hasOtherAdministrator = async (
  { db, dev, now, keyring }: Pick<Call, 'db' | 'dev' | 'now' | 'keyring'>,
  { org_id, user_id }: Member,
): Promise<boolean> => {
  const others = await activeDevices(db, dev)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', '<>', user_id)
    .where('m.role', 'in', adminRoles)
    .where(({ or, and, eb }) =>
      or([
        eb('m.admin_from', 'is', null),
        and([eb('m.admin_from', '<=', now), eb('m.promoted_at', '<=', now)]),
      ]),
    )
    .selectAll('d')
    .execute()
  return others.some((row) => isAuthenticDevice({ keyring }, row))
}
