import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { awakeAmong } from '../devices/seats.ts'
import { readGroups } from '../policy/group-rows.ts'
import { readPeople } from './members.ts'

export const listOwnGroups: HandlerOf<'listOwnGroups'> = async (_, call) => {
  const person = requirePerson(call.caller)
  const { org_id, user_id } = person
  const isAdmin = await isAdministrator(call.db, person)
  const shown = (await readGroups(call, org_id)).filter(
    ({ deleted_at, members }) => deleted_at === null && (isAdmin || members.includes(user_id)),
  )
  const ids = shown.flatMap(({ members }) => members)
  const awake = await awakeAmong(call, org_id, ids)
  const people = await readPeople(call, org_id, ids)
  const groups = shown.map(({ name, members }) => ({
    name,
    members: members.flatMap((id) => {
      const one = people.get(id)
      return one ? [{ ...one, asleep: !awake.has(id) }] : []
    }),
  }))
  return { groups: groups.toSorted((one, other) => (one.name < other.name ? -1 : 1)) }
}
