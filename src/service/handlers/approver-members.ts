import type { approver } from '../../contract/approver.ts'
import { conflict } from '../../core/refusal.ts'
import { makeChallenge, type Question, readChallenge, spendChallenge } from '../approver/challenge.ts'
import { listMembers, maskedMember, requireAdmin } from '../approver/members.ts'
import { proveDevice } from '../approver/proof.ts'
import type { HandlerOf, Handlers } from '../call/call.ts'
import { type Caller, requirePerson } from '../call/caller.ts'
import { findUser } from '../members/member.ts'
import { moves } from './membership.ts'

type Move = keyof typeof moves
/** Only who is accepted is sent a link. */
type Accepted = { enrollment?: Awaited<ReturnType<typeof moves.accept>>['enrollment'] }
type Group = 'listMembers' | 'beginMemberMove' | 'moveMember'

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

export const approverMemberHandlers: Pick<Handlers<typeof approver>, Group> = {
  listMembers,
  beginMemberMove,

  moveMember: {
    before: async ({ challenge, response, ...input }, { service, caller }) => {
      const question = questionOf(caller, input)
      const lapses = readChallenge(service.keyring, challenge, question, service.storage.now())
      const { device_id } = requirePerson(caller)
      const { keep } = await proveDevice(service, response, challenge, { deviceId: device_id })
      return async (call) => {
        const { org_id } = await requireAdmin(call)
        await spendChallenge(call, challenge, lapses)
        await keep(call)
        const moved = await moves[input.move](call, { org_id, user_id: input.user_id })
        return { ...maskedMember(moved), enrollment: (moved as Accepted).enrollment ?? null }
      }
    },
  },
}
