import { notFound } from '../../core/refusal.ts'
import { revokeKeys } from '../approvals/key-revocation.ts'
import type { HandlerOf } from '../call/call.ts'
import { requirePerson } from '../call/caller.ts'
import { ofMember } from '../call/tenant.ts'
import { keysOfTerminal, selectAgents } from '../keys/agents.ts'

type Key = { id: number; audience: string | null; client_id: string | null }

/** Whether both are keys of one installation of svc, or the same key of an agent. */
const isSame = (one: Key, other: Key): boolean =>
  one.audience === null ? other.audience === null && one.client_id === other.client_id : one.id === other.id

/** A terminal has the name of its key that asks. */
export const listOwnAgents: HandlerOf<'listOwnAgents'> = async (_, call) => {
  const keys = await selectAgents(call)
    .where(ofMember(requirePerson(call.caller), 'm'))
    .select(['k.id', 'k.name', 'k.last_used_at', 'k.audience', 'k.client_id'])
    .select(({ fn, val }) => fn.coalesce('k.client_name', val('')).as('client_name'))
    .orderBy(({ eb }) => eb('k.scopes', '=', 'ask'), 'desc')
    .orderBy('k.id')
    .execute()
  const agents = keys
    .filter((key, at) => keys.findIndex((one) => isSame(one, key)) === at)
    .map(({ name, client_name, ...key }) => {
      const used = keys.flatMap((one) => (isSame(one, key) && one.last_used_at) || [])
      return { id: key.id, name, client_name, last_used_at: used.toSorted().at(-1) ?? null }
    })
  return { agents }
}

/** Revokes the key of an agent or the keys of a terminal, and ends their pending requests. */
export const revokeOwnAgent: HandlerOf<'revokeOwnAgent'> = async ({ agent_id }, call) => {
  const person = requirePerson(call.caller)
  const { org_id, user_id: owner_user_id } = person
  const { audience, client_id } = await selectAgents(call)
    .where('k.id', '=', agent_id)
    .where(ofMember(person, 'm'))
    .select(['k.audience', 'k.client_id'])
    .executeTakeFirstOrThrow(() => notFound('Agent'))
  await call.audit(org_id, `key:${agent_id}`)
  const others =
    audience === null ? await keysOfTerminal(call.db, { org_id, owner_user_id, client_id }).execute() : []
  await revokeKeys(call, [...new Set([agent_id, ...others.map(({ id }) => id)])])
}
