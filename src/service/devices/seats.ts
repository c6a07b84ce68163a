import { invalid } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { activeDevices } from './active.ts'
import { isAuthenticDevice } from './rows.ts'
import { type Group, readGroups } from '../policy/group-rows.ts'

type Deps = Pick<Call, 'db' | 'keyring'> & { service: Pick<Call['service'], 'dev'> }

/** Which of these users can be asked now: active members of the organization with an authentic active device. */
export const awakeAmong = async (
  deps: Deps,
  orgId: number,
  users: readonly number[],
): Promise<ReadonlySet<number>> => {
  if (users.length === 0) return new Set()
  const devices = await activeDevices(deps.db, deps.service.dev)
    .where('d.org_id', '=', orgId)
    .where('d.user_id', 'in', [...new Set(users)])
    .selectAll('d')
    .execute()
  return new Set(devices.filter((row) => isAuthenticDevice(deps, row)).map(({ user_id }) => user_id))
}

/** The group with this name, unless it was deleted. */
export const named = (groups: readonly Group[], name: string): Group | undefined =>
  groups.find((one) => one.name === name && one.deleted_at === null)

/** The people of a group for a request. Throws 422 for an unknown group, 409 if another program has changed the groups. */
export const readGroup = async (deps: Deps, orgId: number, name: string) => {
  const group = named(await readGroups(deps, orgId), name)
  if (!group)
    throw invalid(
      'approvers',
      `must name a group that exists, not @${name}`,
      `svc group list --org ${orgId} lists the groups`,
    )
  const awake = await awakeAmong(deps, orgId, group.members)
  return {
    id: group.id,
    name,
    members: group.members.filter((id) => awake.has(id)),
    asleep: group.members.filter((id) => !awake.has(id)),
  }
}
