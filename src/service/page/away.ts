import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson, type SignedIn } from '../call/caller.ts'
import { changeAbsence, readAbsences, type WantedAway } from '../devices/absences.ts'
import type { Signed } from './challenge.ts'
import { requireAdmin } from './members.ts'
import { challengeFor, signs } from './proof.ts'

type Wanted = WantedAway & { user_id?: number | undefined }

/** Whose absence this is. Only an administrator sees and sets that of somebody else. */
const memberOf = async (call: Call, user_id: number | undefined) => {
  const person = requirePerson(call.caller)
  if (user_id === undefined || user_id === person.user_id) return person
  await requireAdmin(call)
  return { org_id: person.org_id, user_id }
}

const asks = ({ user_id, from, until, end }: Wanted, person: SignedIn): Signed => ({
  type: 'away',
  user_id: user_id ?? person.user_id,
  interval: JSON.stringify([from, until, end]),
})

export const getAway: HandlerOf<'getAway'> = async ({ user_id: of }, call) => {
  const { org_id, user_id } = await memberOf(call, of)
  const found = await readAbsences(call, org_id, [user_id])
  return { user_id, away: found.get(user_id) ?? null }
}

export const beginAway: HandlerOf<'beginAway'> = challengeFor(asks)

export const signAway: HandlerOf<'signAway'> = signs(asks, async (call, wanted, { person, settle }) => {
  const member = await memberOf(call, wanted.user_id)
  await settle(call)
  return changeAbsence(call, member, wanted, person)
})
