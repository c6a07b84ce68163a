import type { approver } from '../../contract/approver.ts'
import { conflict } from '../../core/refusal.ts'
import { requireAdmin } from '../approver/administrator.ts'
import { makeChallenge, type Question, readChallenge, spendChallenge } from '../approver/challenge.ts'
import { proveDevice } from '../approver/proof.ts'
import type { Handlers } from '../call/call.ts'
import { type Caller, requirePerson } from '../call/caller.ts'
import { findUser, selectUsers, type UserRecord } from '../members/member.ts'
import { moves } from './membership.ts'

type Move = keyof typeof moves
/** Only who is accepted is sent a link. */
type Accepted = { enrollment?: Awaited<ReturnType<typeof moves.accept>>['enrollment'] }
type Group = 'listMembers' | 'beginMemberMove' | 'moveMember'

const shownDigits = 4
const shownAtMost = 30

/** A member as the page shows one: most of the number is hidden. */
export const maskedMember = ({ id, first_name, last_name, mobile_e164: mobile, state }: UserRecord) => ({
  user_id: id,
  first_name,
  last_name,
  mobile: mobile.slice(-shownDigits).padStart(mobile.length, '•'),
  state,
})

type Named = ReturnType<typeof maskedMember>

const folded = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** Each word stands somewhere in what the page shows of a member, whatever its accents and case. */
const matching = (find: string) => {
  const words = folded(find).split(/\s+/)
  return ({ first_name, last_name, mobile }: Named): boolean => {
    const shown = folded(`${first_name} ${last_name} ${mobile}`)
    return words.every((word) => shown.includes(word))
  }
}

const { compare } = new Intl.Collator('en')
const byName = (one: Named, other: Named): number =>
  compare(`${one.first_name} ${one.last_name}`, `${other.first_name} ${other.last_name}`)

const questionOf = (caller: Caller, { user_id, move }: { user_id: number; move: Move }): Question => {
  const { org_id, device_id } = requirePerson(caller)
  return { type: 'member-move', org_id, user_id, move, device_id }
}

export const approverMemberHandlers: Pick<Handlers<typeof approver>, Group> = {
  listMembers: async ({ state = 'pending', find = '' }, call) => {
    const { org_id, user_id } = await requireAdmin(call)
    const users = await selectUsers(call)
      .where('m.org_id', '=', org_id)
      .where('m.state', '=', state)
      // Nobody moves themselves.
      .where('m.user_id', '<>', user_id)
      .orderBy('m.id')
      .execute()
    const found = users.map(maskedMember).filter(matching(find))
    if (state === 'active') found.sort(byName)
    return { members: found.slice(0, shownAtMost), total: found.length }
  },

  beginMemberMove: async (input, call) => {
    const { org_id, user_id } = await requireAdmin(call)
    // Who puts themselves on hold may be the last one who could have accepted them again.
    if (input.user_id === user_id)
      throw conflict('own_membership', 'You cannot move yourself', 'Ask another admin')
    await findUser(call, org_id, input.user_id)
    return { challenge: makeChallenge(call.keyring, questionOf(call.caller, input), call.now) }
  },

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
