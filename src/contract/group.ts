import * as z from 'zod/mini'
import { mostPeople } from './approvers.ts'
import { groupName } from './line-text.ts'
import { operations } from './declaration.ts'
import { chosen, id, positive, some } from './field.ts'
import { org_id, paging, time } from './records.ts'

// Groups: people who are asked under one name, under /svc/v1. spec: not shown

const name = chosen(groupName, 'Name of the group', { example: 'sre' })
const member = id.check(
  z.regex(/^[1-9]\d{0,14}$/, {
    error: ({ input }) =>
      `must be the id of a user, which svc user list shows, not "${String(input).slice(0, 60)}"`,
  }),
)
const user_id = chosen(member, 'User id', { example: '7', flag: 'user' })

export const groupRecord = z.looseObject({
  id: chosen(id, 'Group id'),
  org_id: chosen(positive, 'Organization id'),
  name: chosen(z.string(), 'Name, written @name where people are asked'),
  members: chosen(z.array(id), 'User ids of the members'),
  people: chosen(z.array(z.string()), 'The members by name, in the same order'),
  asleep: chosen(z.array(id), 'Ids of the members who are not asked: without an active device, or on hold'),
  away: chosen(
    z.array(z.strictObject({ user_id: chosen(id, 'User id'), until: chosen(time, 'When they are back') })),
    'Members who are away now',
  ),
  created_at: chosen(time, 'When it was created'),
})

/** Of several changes with one approval. */
export const groupChange = z.strictObject({
  name,
  members: chosen(
    z.array(member).check(z.maxLength(mostPeople, `must name at most ${mostPeople} users`)),
    'Who is in it from now on; nobody deletes it',
  ),
})

export const group = operations({
  listGroups: {
    route: 'GET /svc/v1/organizations/{org_id}/groups',
    cli: 'group list',
    scope: 'read',
    summary: 'List the groups of an organization',
    message: 'Groups',
    example: '--org acme',
    input: z.strictObject({ org_id, ...paging }),
    data: z.array(groupRecord),
    columns: ['id', 'name', 'people', 'asleep'],
  },
  getGroup: {
    route: 'GET /svc/v1/organizations/{org_id}/groups/{name}',
    cli: 'group get',
    scope: 'read',
    summary: 'Show one group',
    message: 'Group',
    example: 'sre --org acme',
    input: z.strictObject({ org_id, name }),
    data: groupRecord,
  },
  createGroup: {
    route: 'POST /svc/v1/organizations/{org_id}/groups',
    cli: 'group create',
    args: ['name'],
    scope: 'rules',
    summary: 'Create a group of people who can be asked together; its name is never used again',
    message: 'Group created',
    example: 'sre --members 3,7,9 --org acme',
    input: z.strictObject({
      org_id,
      name,
      members: chosen(
        some(member, mostPeople, 'user', 'name'),
        'User ids, from svc user list; each needs an active device',
        { example: ['3', '7', '9'] },
      ),
    }),
    data: groupRecord,
  },
  addGroupMember: {
    route: 'POST /svc/v1/organizations/{org_id}/groups/{name}/members',
    cli: 'group add',
    scope: 'rules',
    summary: 'Add a user with an active device to a group',
    message: 'User added to the group',
    example: 'sre --user 7 --org acme',
    input: z.strictObject({ org_id, name, user_id }),
    data: groupRecord,
  },
  removeGroupMember: {
    route: 'DELETE /svc/v1/organizations/{org_id}/groups/{name}/members/{user_id}',
    cli: 'group remove',
    args: ['name'],
    scope: 'rules',
    summary: 'Remove a user from a group; open requests no longer count on them',
    message: 'User removed from the group',
    example: 'sre --user 7 --org acme --yes',
    input: z.strictObject({ org_id, name, user_id }),
    data: groupRecord,
  },
  deleteGroup: {
    route: 'DELETE /svc/v1/organizations/{org_id}/groups/{name}',
    cli: 'group delete',
    scope: 'rules',
    summary: 'Delete a group; nobody can create another one with its name',
    message: 'Group deleted',
    example: 'sre --org acme --yes',
    input: z.strictObject({ org_id, name }),
  },
})
