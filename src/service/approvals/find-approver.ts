import { sql } from 'kysely'
import { conflict, invalid } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'
import { hasActiveDevice } from '../devices/proof.ts'

export type Approver = { org_id: number; user_id: number; policy: string; organization: string; slug: string }

/** Who can decide here: an active member with that phone and a device that counts. Why there is none is not told. */
export const findApprover = async (
  call: Call,
  mobile: string,
  orgId: number | undefined,
): Promise<Approver> => {
  if (orgId !== undefined) await reachOrganization(call, orgId)
  const meant = orgId ?? call.caller.orgId
  const candidates = await call.db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where('p.mobile', '=', mobile)
    .where('m.state', '=', 'active')
    .where(withinOrganization(meant, 'm.org_id'))
    .select(['m.org_id', 'm.user_id', 'o.policy', 'o.name as organization', 'o.slug'])
    .orderBy('m.org_id')
    .execute()
  const approvers: Approver[] = []
  for (const candidate of candidates) if (await hasActiveDevice(call, candidate)) approvers.push(candidate)
  const [approver, ...others] = approvers
  if (!approver)
    throw conflict(
      'approver_not_enrolled',
      'No active user with this phone has a registered device',
      'svc user enroll <user-id> makes a link with which the user registers one',
    )
  if (others.length > 0)
    throw invalid(
      'org_id',
      'is required: this approver is in several organizations',
      `give org_id, one of ${approvers.map((one) => one.org_id).join(', ')}`,
    )
  return approver
}

/** Active members of the organizations that are in reach. */
const activeMembers = (call: Call, org_id: number | undefined) => {
  const meant = org_id ?? call.caller.orgId
  return call.db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where('m.state', '=', 'active')
    .where(withinOrganization(meant, 'm.org_id'))
    .select(['m.org_id', 'm.email', 'm.first_name', 'm.last_name', 'p.mobile', 'o.name as organization'])
    .orderBy('m.org_id')
}

/** The one active member with this e-mail address; where there are several, nobody is guessed. */
export const memberByEmail = async (call: Call, email: string, org_id: number | undefined) => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const [member, ...others] = await activeMembers(call, org_id)
    .where(sql`lower(m.email)`, '=', email.toLowerCase())
    .execute()
  if (!member)
    throw conflict(
      'approver_not_enrolled',
      'No active user with this e-mail address has a registered device',
      'svc user enroll <user-id> makes a link with which the user registers one',
    )
  const orgs = new Set([member, ...others].map((one) => one.org_id))
  if (orgs.size > 1)
    throw invalid(
      'org_id',
      'is required: this e-mail address is in several organizations',
      `give org_id, one of ${[...orgs].join(', ')}`,
    )
  if (others.length > 0)
    throw conflict(
      'several_users',
      'Several users have this e-mail address',
      'Ask by phone: svc approve submit --to; svc user list --email shows them',
    )
  return member
}

/** Who asks by app: an active member of the organization of who is asked. */
export const memberByMobile = async (call: Call, mobile: string, org_id: number) => {
  const member = await activeMembers(call, org_id).where('p.mobile', '=', mobile).executeTakeFirst()
  if (!member)
    throw conflict(
      'sender_not_active',
      'No active user of the organization has the phone from_mobile',
      'svc user list --state active shows who is',
    )
  return member
}
