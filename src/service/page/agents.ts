import { notFound } from '../../core/refusal.ts'
import { revokeKeys } from '../approvals/key-revocation.ts'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { ofMember } from '../call/tenant.ts'
import { selectAgents } from '../keys/agents.ts'

export const listOwnAgents: HandlerOf<'listOwnAgents'> = async (_, call) => {
  const rows = await selectAgents(call)
    .where(ofMember(requirePerson(call.caller), 'm'))
    .select(['k.id', 'k.name', 'k.last_used_at'])
    .select(({ fn, val }) => fn.coalesce('k.client_name', val('')).as('client_name'))
    .orderBy('k.id')
    .execute()
  return { agents: rows }
}

/** Revokes the key of an agent or a terminal, and ends its pending requests. */
export const revokeOwnAgent: HandlerOf<'revokeOwnAgent'> = async ({ agent_id }, call) => {
  const person = requirePerson(call.caller)
  await selectAgents(call)
    .where('k.id', '=', agent_id)
    .where(ofMember(person, 'm'))
    .select('m.org_id')
    .executeTakeFirstOrThrow(() => notFound('Agent'))
  await call.audit(person.org_id, `key:${agent_id}`)
  await revokeKeys(call, [agent_id])
}
