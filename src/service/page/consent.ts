import type { Scope } from '../../contract/scopes.ts'
import { sha256 } from '../../core/ids.ts'
import { addMs, dayMs } from '../../core/iso-time.ts'
import { conflict } from '../../core/refusal.ts'
import type { HandlerOf } from '../call/call.ts'
import { actorAt, requirePerson } from '../call/caller.ts'
import { type Member, organizationRow } from '../call/tenant.ts'
import { isAdministrator } from '../devices/administrators.ts'
import { agentDays, freeAgentName, tooManyAgents } from '../keys/agents.ts'
import { sessionMaxOf } from '../policy/device-policy.ts'
import type { Db } from '../storage/schema.ts'
import {
  type AuthorizationRequest,
  lifetimeMs,
  openRequest,
  redirectWith,
  seal,
  type Terminal,
} from './authorization.ts'
import type { Signed } from './challenge.ts'
import { challengeFor, proveDevice, questionTo } from './proof.ts'
import { answerTerminal, refuseTerminal } from './terminal-code.ts'

/** How long a registration is kept after a person consented to it. */
const keptDays = 400

type Consent = { request: string; name: string; scopes: readonly Scope[] }

/** What a person gives a client: an agent only asks, and so does the terminal of whoever is not an administrator. */
export const grantedScopes = async (
  db: Db,
  member: Member,
  { scopes, terminal }: Pick<AuthorizationRequest, 'scopes' | 'terminal'>,
): Promise<readonly Scope[]> => (terminal && (await isAdministrator(db, member)) ? scopes : ['ask'])

/** How long a consent lasts, in seconds: what the policy says on a terminal, and an hour after a code that anybody can send around. */
export const lastingSeconds = async (db: Db, org_id: number, terminal: Terminal | undefined) =>
  terminal?.device
    ? 3_600
    : terminal
      ? sessionMaxOf((await organizationRow(db, org_id)).policy)
      : agentDays * 86_400

/** A signature is valid for exactly this request, these scopes and this name. */
const asks = ({ request, name, scopes }: Consent): Signed => ({
  type: 'consent',
  digest: sha256(JSON.stringify([request, name.trim(), scopes])),
})

const hostIn = (redirect_uri: string): string => {
  const { host, protocol } = new URL(redirect_uri)
  return host && /^https?:$/.test(protocol) ? host : `${protocol}//${host}`
}

export const readConsent: HandlerOf<'readConsent'> = async ({ request }, call) => {
  const person = requirePerson(call.caller)
  const { org_id } = person
  const asked = openRequest(call.keyring, request, call.now)
  const { client_name, redirect_uri, terminal } = asked
  const { name: organization } = await organizationRow(call.db, org_id)
  return {
    client_name,
    redirect_host: redirect_uri === '' ? null : hostIn(redirect_uri),
    organization,
    name: await freeAgentName(call, org_id, terminal ? `svc on ${terminal.host}` : client_name),
    scopes: [...(await grantedScopes(call.db, person, asked))],
    lasts_s: await lastingSeconds(call.db, org_id, terminal),
    host: terminal?.host ?? null,
    address: terminal?.device?.address ?? null,
  }
}

export const beginConsent: HandlerOf<'beginConsent'> = async (input, call) => {
  openRequest(call.keyring, input.request, call.now)
  return challengeFor(asks)(input, call)
}

export const giveConsent: HandlerOf<'giveConsent'> = {
  before: async (input, { service, caller }) => {
    const person = requirePerson(caller)
    const { org_id, user_id, device_id } = person
    const { state, ...asked } = openRequest(service.keyring, input.request, service.storage.now())
    const { settle } = await proveDevice(service, input, questionTo(person, asks(input)))
    return async (call) => {
      await settle(call)
      const { terminal } = asked
      // What the person can give now; whoever becomes an administrator later signs in again.
      const given = await grantedScopes(call.db, person, asked)
      if (given.join() !== input.scopes.join())
        throw conflict('role_changed', 'Your role changed while this page was open', 'Read it again')
      const tooMany = await tooManyAgents(call, person, asked)
      if (tooMany) throw tooMany
      await call.db
        .updateTable('oauth_clients')
        .set({ used_at: call.now, expires_at: addMs(call.now, keptDays * dayMs) })
        .where('id', '=', asked.client_id)
        .execute()
      const name = input.name.trim()
      const code = seal(call.keyring, 'authorization code', {
        ...asked,
        scopes: given,
        org_id,
        user_id,
        device_id,
        name,
        expires_at: addMs(call.now, lifetimeMs.code),
      })
      await call.audit(
        org_id,
        `user:${user_id}`,
        [`agent:${name}`, `client:${asked.client_id}`],
        actorAt(person),
      )
      if (terminal?.device) {
        await answerTerminal(call, person, { hash: terminal.device.hash, code })
        return { redirect_to: '' }
      }
      return { redirect_to: redirectWith({ ...asked, state }, call.service.publicUrl, { code }) }
    }
  },
}

export const refuseConsent: HandlerOf<'refuseConsent'> = {
  before: async ({ request }, { service }) => {
    const asked = openRequest(service.keyring, request, service.storage.now())
    const device = asked.terminal?.device
    if (device) await refuseTerminal(service, device)
    const result = { error: 'access_denied', error_description: 'The person did not consent' }
    return async () => ({ redirect_to: device ? '' : redirectWith(asked, service.publicUrl, result) })
  },
}
