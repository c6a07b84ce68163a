import type { OperationId } from '../../contract/table.ts'
import type { Call } from '../call/call.ts'
import { nameOf } from '../devices/notices.ts'
import { named } from '../devices/seats.ts'
import { readGroups } from '../policy/group-rows.ts'

/** `field`: of the input that it replaces. */
type Change = { field: 'members' | 'groups'; before?: string[]; after: string[] }

type Changed = readonly { name: string; members: readonly number[] }[]

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
  input: Record<string, unknown>,
  org_id: number,
): Promise<Change | undefined> => {
  const namesOf = (users: readonly number[]): Promise<string[]> =>
    Promise.all(users.map((user) => nameOf(call.db, { org_id, user_id: user })))
  if (id === 'createGroup') return { field: 'members', after: await namesOf(input['members'] as number[]) }
  const groups = await readGroups(call, org_id)
  if (id === 'setGroups') {
    const lines = (changed: Changed) =>
      Promise.all(
        changed.map(
          async ({ name, members }) => `${name}: ${(await namesOf(members)).join(', ') || 'nobody'}`,
        ),
      )
    const changed = input['groups'] as Changed
    const present = changed.flatMap(({ name }) => named(groups, name) ?? [])
    return { field: 'groups', before: await lines(present), after: await lines(changed) }
  }
  const result = results[id]
  const group = result && named(groups, String(input['name']))
  if (!result || !group) return undefined
  return {
    field: 'members',
    before: await namesOf(group.members),
    after: await namesOf(result(group.members, Number(input['user_id']))),
  }
}
