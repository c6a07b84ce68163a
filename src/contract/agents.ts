import * as z from 'zod/mini'
import { chosen, id, positive } from './field.ts'
import { operations } from './declaration.ts'
import { paging, time } from './records.ts'

// Agents that people connected to the tool server through OAuth, under /svc/v1. spec: not shown

/** An agent: a key that can only ask, and that works only at the tool server. */
export const agentRecord = z.looseObject({
  id: chosen(id, 'Id of the agent, which is the id of its key'),
  name: chosen(z.string(), 'Name that the person gave it'),
  org_id: chosen(positive, 'Organization id'),
  owner_user_id: chosen(id, 'User who consented'),
  owner: chosen(z.string(), 'Name of that user'),
  client_name: chosen(z.string(), 'Name that the client claims; nobody verified it'),
  client_id: chosen(z.string(), 'OAuth client: the id of its registration'),
  created_at: chosen(time, 'When it was connected'),
  last_used_at: chosen(z.nullable(time), 'When it was last used, to the minute'),
  expires_at: chosen(z.nullable(time), 'When the person must consent again'),
})

export const agents = operations({
  listAgents: {
    route: 'GET /svc/v1/agents',
    cli: 'mcp agents list',
    scope: 'keys',
    summary: 'List the agents that people connected to the tool server',
    message: 'Agents',
    input: z.strictObject({
      org_id: chosen(z.optional(positive), 'Only the agents of this organization', { example: 1 }),
      ...paging,
    }),
    data: z.array(agentRecord),
    columns: ['id', 'name', 'org_id', 'owner', 'client_name', 'last_used_at', 'expires_at'],
    wide: ['org_id', 'client_name'],
  },
  revokeAgent: {
    route: 'DELETE /svc/v1/agents/{id}',
    cli: 'mcp agents revoke',
    scope: 'keys',
    summary: 'Disconnect an agent immediately, and end its pending requests',
    message: 'Agent revoked',
    example: '5 --yes',
    input: z.strictObject({ id: chosen(id, 'Id of the agent', { example: '5', flag: 'agent-id' }) }),
  },
})
