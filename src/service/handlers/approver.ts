import type { approver } from '../../contract/approver.ts'
import { conflict } from '../../core/refusal.ts'
import { makeChallenge, type Question } from '../approver/challenge.ts'
import { awaitInbox } from '../approver/inbox.ts'
import { listMembers, maskedMember, requireAdmin } from '../approver/members.ts'
import { proveDevice } from '../approver/proof.ts'
import { beginEnrollment } from '../approver/registration.ts'
import { endSession } from '../approver/session.ts'
import { openSession, readSession } from '../approver/sign-in.ts'
import type { HandlerOf, Handlers } from '../call/call.ts'
import { type Caller, requirePerson } from '../call/caller.ts'
import { readSite } from '../devices/site.ts'
import { findUser } from '../members/member.ts'
import { verifyEmail } from '../mobile/email-link.ts'
import { subscribePush } from '../push/subscription.ts'
import { moves } from './membership.ts'

type Move = keyof typeof moves
/** Only who is accepted is sent a link. */
type Accepted = { enrollment?: Awaited<ReturnType<typeof moves.accept>>['enrollment'] }

const questionOf = (caller: Caller, { user_id, move }: { user_id: number; move: Move }): Question => {
  const { org_id, device_id } = requirePerson(caller)
  return { type: 'member-move', org_id, user_id, move, device_id }
}

export const beginMemberMove: HandlerOf<typeof approver.beginMemberMove> = async (input, call) => {
  const { org_id, user_id } = await requireAdmin(call)
  // Who puts themselves on hold may be the last one who could have accepted them again.
  if (input.user_id === user_id)
    throw conflict('own_membership', 'You cannot move yourself', 'Ask another admin')
  await findUser(call, org_id, input.user_id)
  return { challenge: makeChallenge(call.keyring, questionOf(call.caller, input), call.now) }
}

export const approverHandlers: Handlers<typeof approver> = {
  beginEnrollment,

  verifyEmail,

  beginSession: async (_, call) => ({
    rp_id: (await readSite(call.db, call.publicUrl)).rp_id,
    challenge: makeChallenge(call.keyring, { type: 'session' }, call.now),
  }),

  openSession,

  getSession: (_, call) => readSession(call, requirePerson(call.caller).device_id),

  closeSession: async (_, call) => {
    const person = requirePerson(call.caller)
    await endSession(call, person)
    call.wake(person)
    await call.audit(person.org_id, `device:${person.device_id}`, ['session'])
  },

  listInbox: {
    before: async ({ wait_s = 0, seen }, { service, caller, signal }) => {
      const inbox = await awaitInbox(service, requirePerson(caller), {
        seconds: wait_s,
        seen,
        signal: signal?.(),
      })
      return async () => inbox
    },
  },

  subscribePush,

  listMembers,
  beginMemberMove,

  moveMember: {
    before: async (input, { service, caller }) => {
      const question = questionOf(caller, input)
      const { device_id } = requirePerson(caller)
      const { settle } = await proveDevice(service, input, question, { deviceId: device_id })
      return async (call) => {
        const { org_id } = await requireAdmin(call)
        await settle(call)
        const moved = await moves[input.move](call, { org_id, user_id: input.user_id })
        return { ...maskedMember(moved), enrollment: (moved as Accepted).enrollment ?? null }
      }
    },
  },
}
