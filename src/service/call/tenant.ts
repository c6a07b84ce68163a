import type { Call } from './call.ts'
import { invalid, notFound } from '../../core/refusal.ts'

type Reach = Pick<Call, 'db' | 'caller'>

/** Refuses another tenant's organization with the answer that an absent one gets. */
const refuseForeign = (call: Reach, orgId: number): void => {
  if (call.caller.orgId !== null && call.caller.orgId !== orgId) throw notFound('Organization')
}

/** An organization that exists and that the caller may reach; every operation on one starts here. */
export const reachOrganization = async (call: Reach, orgId: number): Promise<void> => {
  refuseForeign(call, orgId)
  const found = await call.db
    .selectFrom('organizations')
    .where('id', '=', orgId)
    .select('id')
    .executeTakeFirst()
  if (!found) throw notFound('Organization')
}

/** The organization that a user-level operation means: the one given, the caller's, or the user's only one. */
export const organizationOfUser = async (call: Reach, userId: number, orgId?: number): Promise<number> => {
  if (orgId !== undefined) refuseForeign(call, orgId)
  const meant = orgId ?? call.caller.orgId
  const memberships = await call.db
    .selectFrom('memberships')
    .where('user_id', '=', userId)
    .where('state', '<>', 'removed')
    .$if(meant !== null, (query) => query.where('org_id', '=', meant!))
    .select('org_id')
    .orderBy('org_id')
    .execute()
  const [first, ...others] = memberships
  if (!first) throw notFound('User')
  if (others.length > 0)
    throw invalid(
      'org_id',
      'is required: the user is in several organizations',
      `give org_id, one of ${memberships.map((row) => row.org_id).join(', ')}`,
    )
  return first.org_id
}
