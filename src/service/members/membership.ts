import { conflict } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import type { Cooling } from '../devices/administrators.ts'
import { tellPromotion } from '../devices/notices.ts'
import type { Tables } from '../storage/schema.ts'
import { findUser } from './member.ts'

type Membership = Tables['memberships']

export type Target = { org_id: number; user_id: number }

export type MembershipChange = {
  from: Membership['state'][]
  set: Partial<Pick<Membership, 'state' | 'role'>>
  /** What a new role brings with it. */
  cooling?: Cooling | undefined
  refused: string
}

/** One conditional statement decides; only after it said no is it looked why. */
export const changeMembership = async (
  call: Call,
  { org_id, user_id }: Target,
  { from, set, cooling, refused }: MembershipChange,
) => {
  await reachOrganization(call, org_id)
  const moved = await call.db
    .updateTable('memberships')
    .set({ ...set, ...cooling, updated_at: call.now })
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('state', 'in', from)
    .returning('id')
    .executeTakeFirst()
  const user = await findUser(call, org_id, user_id)
  if (!moved) throw conflict(`user_${user.state}`, `The user is ${user.state}; ${refused}`)
  await call.audit(org_id, `user:${user_id}`, Object.keys(set))
  if (cooling) await tellPromotion(call, { org_id, user_id }, cooling)
  return user
}

/** Fences, slots and enrollments go with the membership: their foreign keys cascade. Answers whether there was one. */
export const deleteMembership = async ({ db }: Call, { org_id, user_id }: Target): Promise<boolean> =>
  (await db
    .deleteFrom('memberships')
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .returning('id')
    .executeTakeFirst()) !== undefined
