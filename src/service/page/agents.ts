import { notFound } from '../../core/refusal.ts'
import { revokeKeys } from '../approvals/key-revocation.ts'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { selectAgents } from '../keys/agents.ts'

export const listOwnAgents: HandlerOf<'listOwnAgents'> = async (_, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  const rows = await selectAgents(call)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', '=', user_id)
    .select(['k.id', 'k.name', 'k.last_used_at'])
    .select(({ fn, val }) => fn.coalesce('k.client_name', val('')).as('client_name'))
    .orderBy('k.id')
    .execute()
  return { agents: rows }
}

/** Revokes the key of an agent or a terminal, and ends its pending requests. */
export const revokeOwnAgent: HandlerOf<'revokeOwnAgent'> = async ({ agent_id }, call) => {
  const { org_id, user_id } = requirePerson(call.caller)
  await selectAgents(call)
    .where('k.id', '=', agent_id)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', '=', user_id)
    .select('m.org_id')
    .executeTakeFirstOrThrow(() => notFound('Agent'))
  await call.audit(org_id, `key:${agent_id}`)
  await revokeKeys(call, [agent_id])
}
