import type { agents } from '../../contract/agents.ts'
import type { pageAgents } from '../../contract/page-agents.ts'
import { notFound } from '../../core/refusal.ts'
import { revokeKeys } from '../approvals/key-revocation.ts'
import type { Call, HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { readPage } from '../call/pagination.ts'
import { reachOrganization, withinOrganization } from '../call/tenant.ts'
import { selectAgents } from '../keys/agents.ts'

const columns = [
  'k.id',
  'k.name',
  'm.org_id',
  'm.user_id as owner_user_id',
  'm.first_name',
  'm.last_name',
  'k.client_name',
  'k.client_id',
  'k.created_at',
  'k.last_used_at',
  'k.expires_at',
] as const

type Row = { first_name: string; last_name: string; client_name: string | null; client_id: string | null }

const agentRecord = <R extends Row>({ first_name, last_name, client_name, client_id, ...row }: R) => ({
  ...row,
  owner: `${first_name} ${last_name}`,
  client_name: client_name ?? '',
  client_id: client_id ?? '',
})

export const listAgents: HandlerOf<typeof agents.listAgents> = async ({ org_id }, call) => {
  const orgId = org_id ?? call.caller.orgId
  if (orgId !== null) await reachOrganization(call, orgId)
  const query = selectAgents(call).where(withinOrganization(orgId, 'm.org_id')).select(columns)
  return (await readPage(call, query, 'k.id')).map(agentRecord)
}

/** Revokes the key of an agent and ends its pending requests. */
const revoke = async (call: Call, id: number, orgId: number | null, owner?: number): Promise<void> => {
  const found = await selectAgents(call)
    .where('k.id', '=', id)
    .where(withinOrganization(orgId, 'm.org_id'))
    .$if(owner !== undefined, (query) => query.where('m.user_id', '=', owner!))
    .select('m.org_id')
    .executeTakeFirstOrThrow(() => notFound('Agent'))
  await call.audit(found.org_id, `key:${id}`)
  await revokeKeys(call, [id])
}

export const revokeAgent: HandlerOf<typeof agents.revokeAgent> = ({ id }, call) =>
  revoke(call, id, call.caller.orgId) as Promise<undefined>

export const listOwnAgents: HandlerOf<typeof pageAgents.listOwnAgents> = async (_, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const rows = await selectAgents(call)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', '=', user_id)
    .select(columns)
    .orderBy('k.id')
    .execute()
  return { agents: rows.map(agentRecord) }
}

export const revokeOwnAgent: HandlerOf<typeof pageAgents.revokeOwnAgent> = ({ agent_id }, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  return revoke(call, agent_id, org_id, user_id) as Promise<undefined>
}
