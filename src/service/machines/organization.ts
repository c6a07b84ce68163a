import type { Call } from '../call/call.ts'
import { reachOrganization } from '../call/tenant.ts'
import { invalid, notFound } from '../../core/refusal.ts'

type Deps = Pick<Call, 'db' | 'caller'>

const named = 10

/** 422 that names the choices; 404 where there is none at all. */
const chooseOne = (ids: number[]): number => {
  const [only, ...others] = ids
  if (only === undefined) throw notFound('Organization')
  if (others.length === 0) return only
  const more = ids.length > named ? ', …' : ''
  throw invalid(
    'org_id',
    'is required: an operator key reaches several organizations',
    `give org_id, one of ${ids.slice(0, named).join(', ')}${more}`,
  )
}

/** The organization that is meant: the one given, the caller's, or the only one there is. */
export const organizationMeant = async (call: Deps, org_id: number | undefined): Promise<number> => {
  if (org_id !== undefined) await reachOrganization(call, org_id)
  const meant = org_id ?? call.caller.orgId
  if (meant !== null) return meant
  const rows = await call.db
    .selectFrom('organizations')
    .select('id')
    .orderBy('id')
    .limit(named + 1)
    .execute()
  return chooseOne(rows.map(({ id }) => id))
}

/** As `organizationMeant`; where only one organization has such a machine, that one. */
export const organizationOfMachine = async (
  call: Deps,
  machine_id: string,
  org_id: number | undefined,
): Promise<number> => {
  if (org_id !== undefined || call.caller.orgId !== null) return organizationMeant(call, org_id)
  const rows = await call.db
    .selectFrom('machines')
    .where('machine_id', '=', machine_id)
    .select('org_id')
    .orderBy('org_id')
    .limit(named + 1)
    .execute()
  return rows.length === 0 ? organizationMeant(call, undefined) : chooseOne(rows.map((row) => row.org_id))
}
