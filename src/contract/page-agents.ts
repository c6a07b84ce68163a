import * as z from 'zod/mini'
import { chosen, id, line, nullable } from './field.ts'
import { keyName } from './key.ts'
import { operations } from './declaration.ts'
import { givesChallenge, signedChallenge, time } from './records.ts'
import { scopes } from './scopes.ts'

// Consent to agents on the approver page, under /svc/v1/approver. They are not commands for people. spec: not shown

const request = chosen(line(8_000), 'The authorization request, as the service sealed it')
const name = chosen(keyName, 'Name of the agent, as approvers and the audit log show it')
const shown = chosen(z.array(z.enum(scopes)), 'What the page showed that it would be able to do')
const redirect = z.looseObject({
  redirect_to: chosen(z.string(), 'Where the page sends the browser', { secret: true }),
})

/** What a person gave an agent or a terminal: a key or, of a terminal, one or two, which end together. */
const agentRecord = z.looseObject({
  id: chosen(id, 'Id of its key'),
  name: chosen(z.string(), 'Name of the key that asks'),
  client_name: chosen(z.string(), 'Name that the client claims; nobody verified it'),
  last_used_at: nullable(time, 'When it was last used, to the minute'),
})

export const pageAgents = operations({
  readConsent: {
    route: 'POST /svc/v1/approver/consent/request',
    cookieAlone: true,
    effect: 'read',
    summary: 'Show which client asks for access, and what it would be able to do',
    message: 'Access requested',
    input: z.strictObject({ request }),
    data: z.looseObject({
      client_name: chosen(z.string(), 'Name that the client claims; nobody verified it'),
      redirect_host: nullable(
        z.string(),
        'Where the browser goes afterwards; null if a terminal waits elsewhere',
      ),
      organization: chosen(z.string(), 'Name of the organization'),
      name: chosen(z.string(), 'Suggested name of the agent'),
      scopes: chosen(z.array(z.enum(scopes)), 'What it would be able to do'),
      lasts_s: chosen(z.int(), 'For how long, in seconds'),
      host: nullable(z.string(), 'Of a terminal: the name of its machine, as it claims; else null'),
      address: nullable(z.string(), 'Of a terminal that waits elsewhere: the address that it asked from'),
    }),
  },
  openTerminalCode: {
    route: 'POST /svc/v1/approver/consent/code',
    summary: 'Find the terminal that shows this code and waits for a person',
    message: 'Terminal',
    input: z.strictObject({ code: chosen(line(20), 'The code that the terminal shows', { secret: true }) }),
    data: z.looseObject({ request }),
  },
  beginConsent: {
    route: 'POST /svc/v1/approver/consent/challenge',
    ...givesChallenge,
    summary: 'Get a challenge for consenting to exactly what was shown of this request, under this name',
    input: z.strictObject({ request, name, scopes: shown }),
  },
  giveConsent: {
    route: 'POST /svc/v1/approver/consent',
    summary: 'Give a client access, signed by the device of the session',
    message: 'Access given',
    input: z.strictObject({ request, name, scopes: shown, ...signedChallenge }),
    data: redirect,
  },
  refuseConsent: {
    route: 'POST /svc/v1/approver/consent/refusal',
    open: true,
    effect: 'read',
    summary: 'Refuse a client access; the code of a terminal ends',
    message: 'Access refused',
    input: z.strictObject({ request }),
    data: redirect,
  },
  listOwnAgents: {
    route: 'GET /svc/v1/approver/agents',
    summary: 'List the agents of the signed-in person',
    message: 'Agents',
    data: z.looseObject({ agents: chosen(z.array(agentRecord), 'Agents, oldest first') }),
  },
  revokeOwnAgent: {
    route: 'POST /svc/v1/approver/agents/{agent_id}/revocation',
    summary: 'Disconnect an agent or a terminal of the signed-in person',
    message: 'Agent revoked',
    input: z.strictObject({ agent_id: chosen(id, 'Id of the agent') }),
  },
})
