import type { pendingUser } from '../../contract/pending-user.ts'
import type { user } from '../../contract/user.ts'
import { notFound } from '../../core/refusal.ts'
import { eraseApprovals } from '../approvals/erasure.ts'
import { revokeKeysOfMember } from '../approvals/key-revocation.ts'
import type { Call, Handlers } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { reachOrganization } from '../call/tenant.ts'
import { atOnce, type Cooling, promotionOf, waitsUntil } from '../devices/administrators.ts'
import { sendEnrollment } from '../devices/enrollment-message.ts'
import { endDevices, eraseDevices } from '../devices/transitions.ts'
import { eraseAccounts, erasePeople } from '../members/erasure.ts'
import {
  changeMembership,
  deleteMembership,
  type MembershipChange,
  type Target,
} from '../members/membership.ts'
import { endVerifications } from '../verifications/verification.ts'

const move = async (call: Call, target: Target, change: MembershipChange) => {
  const user = await changeMembership(call, target, change)
  if (user.state !== 'active') await revokeKeysOfMember(call, target)
  call.wake(target)
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
    const member = await deleteMembership(call, target)
    // Who only registered in the app, and never joined, can be erased as well.
    const registered = await eraseAccounts(call.db, orgId, userId)
    if (!member && registered.length === 0) throw notFound('User')
    await revokeKeysOfMember(call, target)
    await erasePeople(call, [userId])
    await call.audit(orgId, `user:${userId}`)
    call.wake(target)
  },
}
