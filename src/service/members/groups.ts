import { mostPeople } from '../../contract/approvers.ts'
import { conflict, notFound } from '../../core/refusal.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { membersAmong, reachOrganization } from '../call/tenant.ts'
import {
  type Book,
  changeGroup,
  type Group,
  insertGroup,
  readBook,
  readGroups,
} from '../policy/group-rows.ts'
import { type Change, demandForChanges, notifyChange } from './rule-changes.ts'
import { requireEnoughMembers, requireFewEnough, rulesOfGroup } from './rule-completable.ts'
import { awayAmong } from '../devices/absences.ts'
import { namesOf } from '../devices/notices.ts'
import { awakeAmong, named } from '../devices/seats.ts'

const records = async (call: Call, orgId: number, groups: readonly Group[]) => {
  const everybody = groups.flatMap(({ members }) => members)
  const awake = await awakeAmong(call, orgId, everybody)
  const away = await awayAmong(call, orgId, everybody)
  const people = await namesOf(call.db, orgId, everybody)
  return groups.map(({ id, org_id, name, members, created_at }) => ({
    id,
    org_id,
    name,
    members,
    people: people.splice(0, members.length),
    asleep: members.filter((one) => !awake.has(one)),
    away: members.flatMap((user_id) => {
      const until = away.get(user_id)
      return until === undefined ? [] : [{ user_id, until }]
    }),
    created_at,
  }))
}

const recordOf = async (call: Call, group: Group) => (await records(call, group.org_id, [group]))[0]!

const findGroup = async (call: Call, orgId: number, name: string): Promise<Group> => {
  await reachOrganization(call, orgId)
  const group = named(await readGroups(call, orgId), name)
  if (!group) throw notFound('Group', `svc group list --org ${orgId} lists the groups`)
  return group
}

/** Who joins must be able to answer, so that a group is not made of people whom somebody else can still enroll. */
const checkJoining = async (call: Call, orgId: number, users: readonly number[]): Promise<void> => {
  const awake = await awakeAmong(call, orgId, users)
  const asleep = users.find((user) => !awake.has(user))
  if (asleep === undefined) return
  if ((await membersAmong(call.db, orgId, [asleep], ['active'])).length === 0)
    throw notFound(`User ${asleep}`, `svc user list --org ${orgId} --state active lists the active users`)
  throw conflict(
    'member_not_enrolled',
    `User ${asleep} has no active device, so they cannot join a group`,
    `Create a link that registers one: svc user enroll ${asleep} --org ${orgId}`,
  )
}

export const listGroups: HandlerOf<'listGroups'> = async ({ org_id }, call) => {
  await reachOrganization(call, org_id)
  const { after, limit } = call.page
  const groups = (await readGroups(call, org_id)).filter(
    ({ id, deleted_at }) => id > after && deleted_at === null,
  )
  return records(
    call,
    org_id,
    call.paged(groups.slice(0, limit + 1), ({ id }) => id),
  )
}

export const getGroup: HandlerOf<'getGroup'> = async ({ org_id, name }, call) =>
  recordOf(call, await findGroup(call, org_id, name))

/** Demands the approval of a change; `book`: what there was before. */
export type Demand = (call: Call, orgId: number, book: Book, changes: readonly Change[]) => Promise<void>

export const create = async (
  call: Call,
  { org_id, name, members }: { org_id: number; name: string; members: readonly number[] },
  demand: Demand = demandForChanges,
) => {
  const book = await readBook(call, org_id)
  const taken = book.groups.find((one) => one.name === name)
  if (taken)
    throw taken.deleted_at === null
      ? conflict('group_exists', `The group ${name} already exists`, `svc group get ${name} --org ${org_id}`)
      : conflict(
          'group_name_used',
          `A group with the name ${name} was deleted, and the name of a group is never used again`,
          'Choose another name',
        )
  const users = [...new Set(members)].toSorted((a, b) => a - b)
  await checkJoining(call, org_id, users)
  await demand(call, org_id, book, [{}])
  const group = await insertGroup(call, { org_id, name, members: users })
  await call.claim(org_id, 'groups')
  await call.audit(org_id, `group:${group.id}`)
  await notifyChange(call, org_id, { what: `The group ${name}`, members: users })
  return recordOf(call, group)
}

export const createGroup: HandlerOf<'createGroup'> = async ({ org_id, name, members }, call) => {
  await reachOrganization(call, org_id)
  return create(call, { org_id, name, members })
}

/** A rule that asks nobody could never be satisfied. */
const refuseUsed = (book: Book, { name, org_id }: Group): void => {
  const [used] = rulesOfGroup(book, name)
  if (!used) return
  throw conflict(
    'group_in_use',
    `The rule ${used.name} asks the group ${name}`,
    `Delete the rule first: svc rule delete ${used.name} --org ${org_id}`,
  )
}

/** Gives a group other members; nobody deletes it. */
export const setMembers = async (
  call: Call,
  before: Group,
  members: readonly number[],
  demand: Demand = demandForChanges,
) => {
  const book = await readBook(call, before.org_id)
  const users = [...new Set(members)].toSorted((a, b) => a - b)
  const leaving = users.length === 0 ? [] : before.members.filter((id) => !users.includes(id))
  await checkJoining(
    call,
    before.org_id,
    users.filter((id) => !before.members.includes(id)),
  )
  if (users.length === 0) refuseUsed(book, before)
  await demand(call, before.org_id, book, [{ group: before, leaving }])
  const group = { ...before, members: users, ...(users.length === 0 && { deleted_at: call.now }) }
  await changeGroup(call, group)
  await call.audit(group.org_id, `group:${group.id}`, [group.deleted_at === null ? 'members' : 'deleted_at'])
  const concerned = [...new Set([...users, ...before.members])]
  await notifyChange(call, group.org_id, { what: `The group ${group.name}`, members: concerned })
  return recordOf(call, group)
}

export const addGroupMember: HandlerOf<'addGroupMember'> = async ({ org_id, name, user_id }, call) => {
  const group = await findGroup(call, org_id, name)
  if (group.members.includes(user_id))
    throw conflict('already_in_group', `User ${user_id} is in the group ${name} already`)
  if (group.members.length >= mostPeople)
    throw conflict(
      'group_full',
      `The group ${name} has ${mostPeople} members, the most that a group can have`,
      `Remove one: svc group remove ${name} --user ID --org ${org_id}`,
    )
  const record = await setMembers(call, group, [...group.members, user_id])
  requireFewEnough(org_id, await readBook(call, org_id), [name])
  return record
}

export const removeGroupMember: HandlerOf<'removeGroupMember'> = async ({ org_id, name, user_id }, call) => {
  const group = await findGroup(call, org_id, name)
  const members = group.members.filter((id) => id !== user_id)
  if (members.length === group.members.length)
    throw notFound(`User ${user_id}`, `svc group get ${name} --org ${org_id} shows who is in the group`)
  if (members.length === 0)
    throw conflict(
      'last_of_group',
      `User ${user_id} is the last one in the group ${name}`,
      `Add another user first: svc group add ${name} --user ID --org ${org_id}; or delete the group: svc group delete ${name} --org ${org_id}`,
    )
  const record = await setMembers(call, group, members)
  requireEnoughMembers(org_id, await readBook(call, org_id), [name])
  return record
}

export const deleteGroup: HandlerOf<'deleteGroup'> = async ({ org_id, name }, call) => {
  await setMembers(call, await findGroup(call, org_id, name), [])
}
