import { sql } from 'kysely'
import { conflict, invalid, notFound } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { oneOf, parsePhone } from '../call/input.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'
import { findUser, ownUser, selectUsers } from '../members/member.ts'
import { findMemberships, requirePerson } from './person.ts'

export const getUserDetails: HandlerOf<'getUserDetails'> = async ({ org_id, ...input }, call) => {
  oneOf(input, ['user_id', 'mobile', 'email'])
  const orgId = org_id ?? call.caller.orgId
  if (orgId === null)
    throw invalid('org_id', 'is required with an operator key', 'svc org list shows the organizations')
  await reachOrganization(call, orgId)
  if (input.user_id !== undefined) return findUser(call, orgId, input.user_id)

  const users = selectUsers(call).where('m.org_id', '=', orgId)
  if (input.mobile !== undefined)
    return ownUser(
      call,
      await users
        .where('p.mobile', '=', parsePhone(input.mobile).mobile)
        .executeTakeFirstOrThrow(() => notFound('User')),
    )

  // The address of a member who left can belong to another one now.
  const [found, ...others] = await users
    .where(sql`lower(m.email)`, '=', input.email!.toLowerCase())
    .where('m.state', '<>', 'removed')
    .limit(2)
    .execute()
  if (others.length > 0)
    throw conflict(
      'several_users',
      'Several users have this e-mail address',
      'use user_id or mobile; svc user list --email shows them',
    )
  if (!found) throw notFound('User')
  return ownUser(call, found)
}

export const getUserOrganization: HandlerOf<'getUserOrganization'> = async ({ user_id, org_code }, call) =>
  ownUser(
    call,
    await selectUsers(call)
      .innerJoin('organizations as o', 'o.id', 'm.org_id')
      .where('o.slug', '=', org_code)
      .where('m.user_id', '=', user_id)
      .where(withinOrganization(call.caller.orgId, 'm.org_id'))
      .executeTakeFirstOrThrow(() => notFound('User')),
  )

export const listUserOrganizations: HandlerOf<'listUserOrganizations'> = async (input, call) => {
  oneOf(input, ['user_id', 'mobile'])
  const { user_id } = await requirePerson(call, input)
  return findMemberships(call, user_id)
}
