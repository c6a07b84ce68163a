import type { pendingUser } from '../../contract/pending-user.ts'
import type { user } from '../../contract/user.ts'
import { conflict, notFound } from '../../core/refusal.ts'
import { eraseApprovals } from '../approvals/erasure.ts'
import { endKeysOf } from '../approvals/key-revocation.ts'
import type { Call, Handlers } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { reachOrganization } from '../call/tenant.ts'
import { atOnce, type Cooling, promotionOf, waitsUntil } from '../devices/administrators.ts'
import { sendEnrollment } from '../devices/enrollment-message.ts'
import { tellPromotion } from '../devices/notices.ts'
import { endDevices, eraseDevices } from '../devices/transitions.ts'
import { eraseAccounts, erasePeople } from '../members/erasure.ts'
import { findUser } from '../members/member.ts'
import type { Tables } from '../storage/schema.ts'
import { endVerifications } from '../verifications/withdrawal.ts'

type State = Tables['memberships']['state']
type Role = Tables['memberships']['role']

type Target = { org_id: number; user_id: number }
type Move = {
  from: State[]
  set: { state?: State; role?: Role }
  /** What a new role brings with it. */
  cooling?: Cooling
  refused: string
}

/** One conditional statement decides; only after it said no is it looked why. */
const move = async (call: Call, { org_id, user_id }: Target, { from, set, cooling, refused }: Move) => {
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
  if (user.state !== 'active') await endKeysOf(call, { org_id, user_id })
  call.wake({ org_id, user_id })
  return user
}

/** How a pending or active user moves on; also at the approver page. */
export const moves = {
  accept: async (call: Call, target: Target) => {
    const user = await move(call, target, {
      from: ['pending'],
      set: { state: 'active' },
      refused: 'only a pending user can be accepted',
    })
    return { ...user, enrollment: (await sendEnrollment(call, target)) ?? null }
  },

  reject: async (call: Call, target: Target) => {
    const user = await move(call, target, {
      from: ['pending'],
      set: { state: 'rejected' },
      refused: 'only a pending user can be rejected',
    })
    await endDevices(call, target)
    return user
  },

  hold: (call: Call, target: Target) =>
    move(call, target, {
      from: ['active'],
      set: { state: 'pending' },
      refused: 'only an active user can be put on hold',
    }),

  /** Approved by the device of an administrator; one who is new themselves passes nothing on. */
  promote: async (call: Call, target: Target) => {
    const { org_id, user_id } = requirePerson(call.caller)
    const isNew = (await waitsUntil(call, { org_id, user_id })) !== undefined
    return makeAdmin(call, target, isNew ? await promotionOf(call, target, 'admin') : atOnce)
  },
}

const makeAdmin = (call: Call, target: Target, cooling: Cooling | undefined) =>
  move(call, target, {
    from: ['active'],
    set: { role: 'admin' },
    cooling,
    refused: 'only an active user can become an admin',
  })

type Group = 'acceptUser' | 'rejectUser' | 'holdUser' | 'makeAdmin' | 'removeUser' | 'deleteUser'

export const membershipHandlers: Pick<Handlers<typeof user & typeof pendingUser>, Group> = {
  acceptUser: (input, call) => moves.accept(call, input),
  rejectUser: (input, call) => moves.reject(call, input),
  holdUser: (input, call) => moves.hold(call, input),

  makeAdmin: async (input, call) => {
    await reachOrganization(call, input.org_id)
    return makeAdmin(call, input, await promotionOf(call, input, 'admin'))
  },

  removeUser: async (input, call) => {
    const user = await move(call, input, {
      from: ['active', 'pending'],
      set: { state: 'removed' },
      refused: 'only an active or pending user can be removed',
    })
    await endDevices(call, input)
    return user
  },

  deleteUser: async ({ orgId, userId }, call) => {
    await reachOrganization(call, orgId)
    const target = { org_id: orgId, user_id: userId }
    await eraseDevices(call, target)
    await eraseApprovals(call, target)
    await endVerifications(call, target)
    // Fences, slots and enrollments go with the membership: their foreign keys cascade.
    const member = await call.db
      .deleteFrom('memberships')
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .returning('id')
      .executeTakeFirst()
    // Who only registered in the app, and never joined, can be erased as well.
    const registered = await eraseAccounts(call.db, orgId, userId)
    if (!member && registered.length === 0) throw notFound('User')
    await endKeysOf(call, target)
    await erasePeople(call, [userId])
    await call.audit(orgId, `user:${userId}`)
    call.wake({ org_id: orgId, user_id: userId })
  },
}
