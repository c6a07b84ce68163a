import { conflict, notFound } from '../../core/refusal.ts'
import { eraseApprovals } from '../approvals/erasure.ts'
import { endKeysOfLeaving, revokeKeysOfMember } from '../approvals/leaving.ts'
import type { Signed } from '../page/challenge.ts'
import { maskedMember, requireAdmin } from '../page/members.ts'
import { challengeFor, signs } from '../page/proof.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { type Member, ofMember, reachOrganization } from '../call/tenant.ts'
import {
  type Cooling,
  isAdministrator,
  noCooling,
  promotionCooling,
  recoveriesFrom,
  wakeAdministrators,
} from '../devices/administrators.ts'
import { appoint } from '../devices/appointments.ts'
import { sendEnrollment } from '../devices/enrollment-message.ts'
import { notifyLess, notifyPromotion } from '../devices/notices.ts'
import { endDevices, eraseDevices } from '../devices/transitions.ts'
import { endGrants } from '../approvals/grants.ts'
import { leaveGroups } from '../policy/group-rows.ts'
import { eraseAccounts, erasePeople } from '../members/erasure.ts'
import { findUser } from '../members/member.ts'
import type { Tables } from '../storage/schema.ts'
import { endVerifications } from '../verifications/verification.ts'

type Membership = Tables['memberships']

type Change = {
  /** What the audit log calls it, in addition to the fields. */
  done: string
  from: Membership['state'][]
  set: Partial<Pick<Membership, 'state' | 'role'>>
  refused: string
}

const changes = {
  accept: {
    done: 'accepted',
    from: ['pending'],
    set: { state: 'active' },
    refused: 'only a pending user can be accepted',
  },
  reject: {
    done: 'rejected',
    from: ['pending'],
    set: { state: 'rejected' },
    refused: 'only a pending user can be rejected',
  },
  hold: {
    done: 'held',
    from: ['active'],
    set: { state: 'pending' },
    refused: 'only an active user can be put on hold',
  },
  promote: {
    done: 'promoted',
    from: ['active'],
    set: { role: 'admin' },
    refused: 'only an active user can become an administrator',
  },
  remove: {
    done: 'removed',
    from: ['active', 'pending'],
    set: { state: 'removed' },
    refused: 'only an active or pending user can be removed',
  },
} satisfies Record<string, Change>

/** The command that helps where a change is refused; undefined if nothing is left to do. */
const refusedHint = (
  name: keyof typeof changes,
  state: Membership['state'],
  { org_id, user_id }: Member,
): string | undefined => {
  const at = `${user_id} --org ${org_id}`
  if (state === 'active')
    return name === 'reject' ? `svc user remove ${at} removes an active user` : undefined
  if (state === 'pending')
    return name === 'promote' ? `svc user pending accept ${at} accepts the user` : undefined
  return name === 'remove' || name === 'reject'
    ? undefined
    : `Create the user again: svc user create --org ${org_id}`
}

/** Changes a membership in one conditional statement. `cooling` is the period of a new administrator. */
const change = async (call: Call, member: Member, name: keyof typeof changes, cooling?: Cooling) => {
  const { done, from, set, refused }: Change = changes[name]
  const { org_id, user_id } = member
  await reachOrganization(call, org_id)
  // Before the change: it ends what the person consented to.
  if (name === 'remove') await endKeysOfLeaving(call, member)
  const changed = await call.db
    .updateTable('memberships')
    .set({ ...set, ...cooling, held_at: name === 'hold' ? call.now : null, updated_at: call.now })
    .where(ofMember(member))
    .where('state', 'in', from)
    .returning('id')
    .executeTakeFirst()
  const user = await findUser(call, org_id, user_id)
  if (!changed) {
    const hint = refusedHint(name, user.state, member)
    throw conflict(`user_${user.state}`, `The user is ${user.state}; ${refused}`, hint)
  }
  await call.audit(org_id, `user:${user_id}`, [...Object.keys(set), done])
  if (cooling) {
    await appoint(call, member)
    await notifyPromotion(call, member, cooling)
  }
  if (name === 'hold' || name === 'reject') await revokeKeysOfMember(call, member)
  if (name === 'hold') {
    await endGrants(call, org_id, (one) => one.user_id === user_id)
    await notifyLess(call, member, 'on hold')
  }
  call.wake({ org_id: member.org_id, users: [member.user_id] })
  await wakeAdministrators(call, org_id)
  return user
}

/** The changes that an administrator can also make on the approver page. */
const moves = {
  accept: async (call: Call, member: Member) => {
    const user = await change(call, member, 'accept')
    return { ...user, enrollment: (await sendEnrollment(call, member)) ?? null }
  },

  reject: async (call: Call, member: Member) => {
    const user = await change(call, member, 'reject')
    await leaveGroups(call, member)
    await endDevices(call, member)
    return user
  },

  hold: (call: Call, member: Member) => change(call, member, 'hold'),

  /** The administrator approved it with their device. The cooling period applies only if theirs is not over. */
  promote: async (call: Call, member: Member) => {
    if (await isAdministrator(call.db, member))
      throw conflict('user_admin', 'The user is an administrator already')
    const isNew = (await recoveriesFrom(call, requirePerson(call.caller))) !== undefined
    return change(call, member, 'promote', isNew ? await promotionCooling(call, member, 'admin') : noCooling)
  },

  /** For a member who has lost every device, or who never got a link. */
  link: async (call: Call, member: Member) => {
    const user = await findUser(call, member.org_id, member.user_id)
    if (user.state !== 'active')
      throw conflict(`user_${user.state}`, `The user is ${user.state}; only an active user gets a link`)
    const enrollment = await sendEnrollment(call, member)
    if (!enrollment)
      throw conflict(
        'device_active',
        'The user has an active device and can add another one from it',
        'If they have lost it, remove it first',
      )
    if (enrollment.channel === null)
      throw conflict('link_not_sent', 'No link can be sent to this user', enrollment.next ?? undefined)
    return { ...user, enrollment }
  },
}

type Accepted = Partial<Awaited<ReturnType<typeof moves.accept>>>

export const acceptUser: HandlerOf<'acceptUser'> = (input, call) => moves.accept(call, input)
export const rejectUser: HandlerOf<'rejectUser'> = (input, call) => moves.reject(call, input)
export const holdUser: HandlerOf<'holdUser'> = (input, call) => moves.hold(call, input)

export const makeAdmin: HandlerOf<'makeAdmin'> = async (input, call) => {
  await reachOrganization(call, input.org_id)
  return change(call, input, 'promote', await promotionCooling(call, input, 'admin'))
}

export const removeUser: HandlerOf<'removeUser'> = async (input, call) => {
  const removed = await change(call, input, 'remove')
  await leaveGroups(call, input)
  await endDevices(call, input)
  return removed
}

export const deleteUser: HandlerOf<'deleteUser'> = async ({ orgId, userId }, call) => {
  await reachOrganization(call, orgId)
  const member = { org_id: orgId, user_id: userId }
  await leaveGroups(call, member)
  await eraseDevices(call, member)
  await eraseApprovals(call, member)
  await endVerifications(call, member)
  await endKeysOfLeaving(call, member)
  // Foreign keys delete geofences, time slots and enrollments with the membership.
  const { numDeletedRows } = await call.db
    .deleteFrom('memberships')
    .where(ofMember(member))
    .executeTakeFirstOrThrow()
  // A person who registered in the app and never joined can also be deleted.
  const registered = await eraseAccounts(call.db, orgId, userId)
  if (numDeletedRows === 0n && registered.length === 0) throw notFound('User')
  await erasePeople(call, [userId])
  await call.audit(orgId, `user:${userId}`)
  call.wake({ org_id: member.org_id, users: [member.user_id] })
}

const asks = ({ user_id, move }: { user_id: number; move: keyof typeof moves }): Signed => ({
  type: 'member-move',
  user_id,
  move,
})

export const beginMemberMove: HandlerOf<'beginMemberMove'> = async (input, call) => {
  const { user_id } = await requireAdmin(call)
  // The last administrator would put themselves on hold for good.
  if (input.user_id === user_id)
    throw conflict('own_membership', 'You cannot change your own membership', 'Ask another administrator')
  // Whether there is such a user is said only to whoever signs.
  return challengeFor(asks)(input, call)
}

export const moveMember: HandlerOf<'moveMember'> = signs(
  asks,
  async (call, { user_id, move }, { settle }) => {
    const { org_id } = await requireAdmin(call)
    await settle(call)
    const moved = await moves[move](call, { org_id, user_id })
    return { ...maskedMember(moved), enrollment: (moved as Accepted).enrollment ?? null }
  },
)
