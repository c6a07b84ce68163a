import type { Call, RequiredLine } from '../call/call.ts'
import { membersAmong } from '../call/tenant.ts'
import { isReachable, namesOf } from './notices.ts'

// Whom an emergency could not tell. Breaking the glass needs that everybody whom the rules name learns of it.

/** The people of the rules but the caller, also whoever was put on hold, perhaps just now and for that. */
export const rulingOf = (
  { db, caller }: Call,
  orgId: number,
  lines: readonly RequiredLine[],
): Promise<number[]> => {
  const ids = lines.flatMap(({ members }) => members).filter((id) => id !== caller.ownerId)
  return membersAmong(db, orgId, ids, ['active', 'pending'])
}

export const reachableAmong = async (
  call: Call,
  orgId: number,
  ids: readonly number[],
): Promise<Set<number>> => {
  const found = new Set<number>()
  for (const user_id of ids) if (await isReachable(call, { org_id: orgId, user_id })) found.add(user_id)
  return found
}

/** The names of the people of the rules whom no message could tell that the glass was broken. */
export const unheardOf = async (
  call: Call,
  orgId: number,
  lines: readonly RequiredLine[],
): Promise<string[]> => {
  const ruling = await rulingOf(call, orgId, lines)
  const reachable = await reachableAmong(call, orgId, ruling)
  return namesOf(
    call.db,
    orgId,
    ruling.filter((id) => !reachable.has(id)),
  )
}
