import { sql } from 'kysely'
import { conflict, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import {
  reachOrganization,
  requireOwnNumber,
  severalOrganizations,
  withinOrganization,
} from '../call/tenant.ts'
import { hasActiveDevice } from '../devices/proof.ts'
import { hasTwin } from './people-text.ts'

export const notEnrolled = (by: 'phone' | 'e-mail address'): Refusal =>
  conflict(
    'approver_not_enrolled',
    `No active user with this ${by} has a registered device`,
    by === 'phone'
      ? 'Find the user: svc user list --mobile NUMBER. Create one who is not there: svc user create. Create a link that registers a device: svc user enroll ID'
      : 'Create a link that registers one: svc user enroll',
  )

/** Of somebody whom the requester knows to be a user. */
export const noDevice = (user_id: number): Refusal =>
  conflict(
    'approver_not_enrolled',
    'The approver has no active device',
    `svc user devices list ${user_id} shows those that wait. Create a link that registers one: svc user enroll ${user_id}`,
  )

const members = ({ db, caller }: Call, org_id: number | undefined) =>
  db
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.user_id')
    .innerJoin('organizations as o', 'o.id', 'm.org_id')
    .where(withinOrganization(org_id ?? caller.orgId, 'm.org_id'))
    .select([
      'm.org_id',
      'm.user_id',
      'm.email',
      'm.first_name',
      'm.last_name',
      'm.state',
      ...(['p.mobile', 'p.national', 'p.country_code', 'p.row_mac as person_mac'] as const),
      hasTwin.as('twin'),
    ])
    .select(['o.name as organization', 'o.slug', 'o.policy', 'o.row_mac as org_mac'])
    .orderBy('m.org_id')

/** The members that a query finds. Throws if another program has changed the number of one: people read it, and sign it. */
export const readOwn = async (call: Call, query: ReturnType<typeof members>) =>
  (await query.execute()).map(({ national, country_code, person_mac: row_mac, ...member }) => {
    const { user_id: id, mobile } = member
    requireOwnNumber(call, { id, mobile, national, country_code, row_mac })
    return member
  })

/** Active members of this organization, or of all that the caller may reach. */
export const activeMembers = (call: Call, org_id: number | undefined) =>
  members(call, org_id).where('m.state', '=', 'active')

export type Approver = Awaited<ReturnType<typeof findApprover>>

/** Also those who wait, so that no other organization stands in for theirs. */
const presentMembers = (call: Call, org_id: number | undefined) =>
  members(call, org_id).where('m.state', 'in', ['active', 'pending'])

/**
 * Finds the active member with this phone and a device that counts. The refusal does not say which of them is missing. In several
 * organizations, whoever asks must say in which: another one could register a phone for a person who has none.
 */
export const findApprover = async (call: Call, mobile: string, org_id: number | undefined) => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const found = await readOwn(call, presentMembers(call, org_id).where('p.mobile', '=', mobile))
  if (found.length > 1) throw severalOrganizations('this approver', found)
  const [approver] = found
  if (approver?.state !== 'active' || !(await hasActiveDevice(call, approver))) throw notEnrolled('phone')
  return approver
}

/** Finds the one active member with this e-mail address. Fails if there are several. */
export const memberByEmail = async (call: Call, email: string, org_id: number | undefined) => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const found = await readOwn(
    call,
    presentMembers(call, org_id).where(sql`lower(m.email)`, '=', email.toLowerCase()),
  )
  if (found.some((one) => one.org_id !== found[0]!.org_id))
    throw severalOrganizations('this e-mail address', found)
  const [member, ...others] = found.filter(({ state }) => state === 'active')
  if (!member) throw notEnrolled('e-mail address')
  if (others.length > 0)
    throw conflict(
      'several_users',
      'Several users have this e-mail address',
      'Use the phone number: svc approve submit --to. List the users: svc user list --email',
    )
  return member
}

/** Finds the requester: an active member of the approver's organization. */
export const memberByMobile = async (call: Call, mobile: string, org_id: number) => {
  const [found] = await readOwn(call, activeMembers(call, org_id).where('p.mobile', '=', mobile))
  if (found) return found
  throw conflict(
    'sender_not_active',
    'No active user of the organization has the mobile number from_mobile',
    'List the active users: svc user list --state active',
  )
}
