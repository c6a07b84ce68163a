import { addMs } from '../../core/iso-time.ts'
import type { Call } from '../call/call.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import { readDevicePolicy } from '../policy/device-policy.ts'
import type { Db, Tables } from '../storage/schema.ts'

type Role = Tables['memberships']['role']

/** Roles that can accept members and approve recoveries. */
export const adminRoles: ('admin' | 'operator')[] = ['admin', 'operator']

export const isAdminRole = (role: Role): boolean => (adminRoles as Role[]).includes(role)

export type Cooling = { promoted_at: string | null; admin_from: string | null }

/** For the first administrator of an organization, or one whom another administrator's device promoted. */
export const noCooling: Cooling = { promoted_at: null, admin_from: null }

/** When a new administrator can approve recoveries, if no administrator's device approved the promotion. */
export const coolingPeriod = async (
  call: Pick<Call, 'db' | 'service' | 'now'>,
  org_id: number,
): Promise<Cooling> => {
  const { recoveryDelayMs } = await readDevicePolicy(call, org_id)
  if (recoveryDelayMs === 0) return noCooling
  return { promoted_at: call.now, admin_from: addMs(call.now, recoveryDelayMs) }
}

/** The cooling period of a change of role; undefined unless the change creates an administrator. */
export const promotionCooling = async (
  call: Call,
  member: Member,
  role: Role,
): Promise<Cooling | undefined> => {
  if (!isAdminRole(role)) return undefined
  const present = await call.db
    .selectFrom('memberships')
    .where(ofMember(member))
    .where('state', 'in', ['active', 'pending'])
    .where('role', 'in', adminRoles)
    .select('id')
    .executeTakeFirst()
  return present ? undefined : coolingPeriod(call, member.org_id)
}

/** Active administrators of an organization. */
export const administrators = (db: Db, org_id: number) =>
  db
    .selectFrom('memberships as m')
    .where('m.org_id', '=', org_id)
    .where('m.state', '=', 'active')
    .where('m.role', 'in', adminRoles)

/** Updates the pages of the administrators, which show who and what waits for them. */
export const wakeAdministrators = async (call: Pick<Call, 'db' | 'wake'>, org_id: number): Promise<void> => {
  const all = await administrators(call.db, org_id).select('m.user_id').execute()
  call.wake({ org_id, users: all.map(({ user_id }) => user_id) })
}

export const isAdministrator = async (db: Db, { org_id, user_id }: Member): Promise<boolean> =>
  (await administrators(db, org_id).where('m.user_id', '=', user_id).select('m.id').executeTakeFirst()) !==
  undefined

/**
 * When an administrator can first approve recoveries; undefined if they can now. A clock that was wrong made a promotion
 * in the future, so its period starts again now.
 */
export const recoveriesFrom = async (
  { db, now }: Pick<Call, 'db' | 'now'>,
  member: Member,
): Promise<string | undefined> => {
  const { promoted_at, admin_from } = await administrators(db, member.org_id)
    .where('m.user_id', '=', member.user_id)
    .select(['m.promoted_at', 'm.admin_from'])
    .executeTakeFirstOrThrow()
  if (promoted_at === null || admin_from === null) return undefined
  if (promoted_at <= now) return admin_from <= now ? undefined : admin_from
  const restarted = addMs(now, Math.max(0, Date.parse(admin_from) - Date.parse(promoted_at)))
  await db
    .updateTable('memberships')
    .set({ promoted_at: now, admin_from: restarted })
    .where(ofMember(member))
    .execute()
  return restarted
}
