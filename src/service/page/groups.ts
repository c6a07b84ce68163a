import type { group } from '../../contract/group.ts'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { awakeAmong } from '../devices/seats.ts'
import { readGroups } from '../policy/group-rows.ts'

export const listOwnGroups: HandlerOf<typeof group.listOwnGroups> = async (_, call) => {
  const person = requirePerson(call.caller)
  const { org_id, user_id } = person
  const isAdmin = await isAdministrator(call.db, person)
  const shown = (await readGroups(call, org_id)).filter(
    ({ deleted_at, members }) => deleted_at === null && (isAdmin || members.includes(user_id)),
  )
  const users = shown.flatMap(({ members }) => members)
  const awake = await awakeAmong(call, org_id, users)
  const people = await call.db
    .selectFrom('memberships')
    .where('org_id', '=', org_id)
    .where('user_id', 'in', [0, ...users])
    .select(['user_id', 'first_name', 'last_name'])
    .execute()
  const names = new Map(people.map((one) => [one.user_id, `${one.first_name} ${one.last_name}`]))
  const groups = shown.map(({ name, members }) => ({
    name,
    members: members.map((id) => ({ name: names.get(id) ?? `User ${id}`, asleep: !awake.has(id) })),
  }))
  return { groups: groups.toSorted((one, other) => (one.name < other.name ? -1 : 1)) }
}
