import type { Call, HandlerOf } from '../call/call.ts'
import { type Caller, requirePerson } from '../call/caller.ts'
import { changeAbsence, readAbsences, type WantedAway } from '../devices/absences.ts'
import { createChallenge, type Question } from './challenge.ts'
import { requireAdmin } from './members.ts'
import { proveDevice } from './proof.ts'

type Wanted = WantedAway & { user_id?: number | undefined }

/** Whose absence this is. Only an administrator sees and sets that of somebody else. */
const memberOf = async (call: Call, user_id: number | undefined) => {
  const person = requirePerson(call.caller)
  if (user_id === undefined || user_id === person.user_id) return person
  await requireAdmin(call)
  return { org_id: person.org_id, user_id }
}

const questionOf = (caller: Caller, { user_id, from, until, end }: Wanted): Question => {
  const person = requirePerson(caller)
  return {
    type: 'away',
    org_id: person.org_id,
    user_id: user_id ?? person.user_id,
    interval: JSON.stringify([from, until, end]),
    device_id: person.device_id,
  }
}

export const getAway: HandlerOf<'getAway'> = async ({ user_id: of }, call) => {
  const { org_id, user_id } = await memberOf(call, of)
  const found = await readAbsences(call, org_id, [user_id])
  return { user_id, away: found.get(user_id) ?? null }
}

export const beginAway: HandlerOf<'beginAway'> = async (wanted, call) =>
  createChallenge(call, questionOf(call.caller, wanted))

export const signAway: HandlerOf<'signAway'> = {
  before: async ({ challenge, response, user_id, ...wanted }, { service, caller }) => {
    const by = requirePerson(caller)
    const question = questionOf(caller, { user_id, ...wanted })
    const { settle } = await proveDevice(service, { challenge, response }, question)
    return async (call) => {
      const member = await memberOf(call, user_id)
      await settle(call)
      return changeAbsence(call, member, wanted, by)
    }
  },
}
