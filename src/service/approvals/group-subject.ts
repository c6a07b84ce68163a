import type { OperationId } from '../../contract/table.ts'
import type { Call } from '../call/call.ts'
import { nameOf } from '../devices/notices.ts'
import { named } from '../devices/seats.ts'
import { readGroups } from '../policy/group-rows.ts'

type Change = { before?: string[]; after: string[] }

/** Who is in a group after a change of it, by user id. */
const results: Partial<Record<OperationId, (members: number[], user: number) => number[]>> = {
  addGroupMember: (members, user) => [...members, user].toSorted((a, b) => a - b),
  removeGroupMember: (members, user) => members.filter((id) => id !== user),
  deleteGroup: () => [],
}

/**
 * The members of a group before and after a call, by name and id, for the person who approves it. So an approval is valid
 * only while the group is as that person saw it. Undefined for any other call, and for a group that does not exist.
 */
export const readGroupChange = async (
  call: Call,
  id: OperationId,
  { name, user_id, members }: Record<string, unknown>,
  org_id: number,
): Promise<Change | undefined> => {
  const namesOf = (users: readonly number[]): Promise<string[]> =>
    Promise.all(users.map((user) => nameOf(call.db, { org_id, user_id: user })))
  if (id === 'createGroup') return { after: await namesOf(members as number[]) }
  const result = results[id]
  const group = result && named(await readGroups(call, org_id), String(name))
  if (!result || !group) return undefined
  return {
    before: await namesOf(group.members),
    after: await namesOf(result(group.members, Number(user_id))),
  }
}
