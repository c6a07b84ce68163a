import type { approver } from '../../contract/approver.ts'
import type { userRecord } from '../../contract/records.ts'
import type * as z from 'zod/mini'
import { makeChallenge, readChallenge, spendChallenge, type Question } from '../approver/challenge.ts'
import { proveDevice } from '../approver/proof.ts'
import { requirePerson } from '../approver/session.ts'
import type { Call, Caller, Handlers } from '../call.ts'
import { Refusal } from '../refusal.ts'
import { findUser, selectUsers } from './member.ts'
import { moves } from './membership.ts'

type Move = keyof typeof moves
type Group = 'listWaitingMembers' | 'beginMemberMove' | 'moveMember'

const roles: ('admin' | 'operator')[] = ['admin', 'operator']

const shownDigits = 4

const memberOf = ({ id, first_name, last_name, mobile, state }: z.infer<typeof userRecord>) => ({
  user_id: id,
  first_name,
  last_name,
  mobile: mobile.slice(-shownDigits).padStart(mobile.length, '•'),
  state,
})

const adminsOnly = (): Refusal =>
  new Refusal(403, 'admin_only', 'Only an admin of the organization can do this')

/** The admin at the page; 403 for who is none, or none any more. */
const requireAdmin = async (call: Call) => {
  const person = requirePerson(call.caller)
  await call.db
    .selectFrom('memberships')
    .where('org_id', '=', person.org_id)
    .where('user_id', '=', person.user_id)
    .where('state', '=', 'active')
    .where('role', 'in', roles)
    .select('id')
    .executeTakeFirstOrThrow(adminsOnly)
  return person
}

const questionOf = (caller: Caller, { user_id, move }: { user_id: number; move: Move }): Question => {
  const { org_id, device_id } = requirePerson(caller)
  return { type: 'member-move', org_id, user_id, move, device_id }
}

export const approverMemberHandlers: Pick<Handlers<typeof approver>, Group> = {
  listWaitingMembers: async (_, call) => {
    const { org_id } = await requireAdmin(call)
    const users = await selectUsers(call)
      .where('m.org_id', '=', org_id)
      .where('m.state', '=', 'pending')
      .orderBy('m.id')
      .execute()
    return users.map(memberOf)
  },

  beginMemberMove: async (input, call) => {
    const { org_id } = await requireAdmin(call)
    await findUser(call, org_id, input.user_id)
    return { challenge: makeChallenge(call.keyring, questionOf(call.caller, input), call.now) }
  },

  moveMember: {
    before: async ({ challenge, response, ...input }, { service, caller }) => {
      const question = questionOf(caller, input)
      const lapses = readChallenge(service.keyring, challenge, question, service.storage.now())
      const { device_id } = requirePerson(caller)
      const { keep } = await proveDevice(service, response, challenge, device_id)
      return async (call) => {
        const { org_id } = await requireAdmin(call)
        await spendChallenge(call, challenge, lapses)
        await keep(call)
        return memberOf(await moves[input.move](call, { org_id, user_id: input.user_id }))
      }
    },
  },
}
