import { requestId, sameSecret, sha256, sha256Base64url } from '../../../core/ids.ts'
import { addMs } from '../../../core/iso-time.ts'
import { Refusal } from '../../../core/refusal.ts'
import { revokeKeys } from '../../approvals/key-revocation.ts'
import { type Grant, unseal } from '../../page/authorization.ts'
import type { Call } from '../../call/call.ts'
import { actorAt, anonymousCaller } from '../../call/caller.ts'
import { runWrite } from '../../call/run.ts'
import type { Service } from '../../call/service.ts'
import { terminalClient } from '../../call/sign-in.ts'
import { organizationRow } from '../../call/tenant.ts'
import { activeDevices } from '../../devices/active.ts'
import { nameOf } from '../../devices/notices.ts'
import { freeAgentName, keysOfTerminal, tooManyAgents } from '../../keys/agents.ts'
import { newSecret } from '../../keys/authenticator.ts'
import { insertKeyRow, isAuthenticKey, type KeyRow, renewKeyRow } from '../../keys/rows.ts'
import { scopesText } from '../../keys/scopes.ts'
import { grantedScopes, lastingSeconds } from '../../page/consent.ts'
import { type Addresses, isResource } from './addresses.ts'
import { OAuthProblem } from './answer.ts'
import { codeOfDevice } from './device.ts'

type Form = Record<string, string | undefined>

/**
 * With `person` and `organization` (slug), the answer to a terminal. `management_token`: its other key, if the person is an
 * administrator.
 */
export type Token = {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
  scope: 'ask'
  management_token?: string
  management_scope?: string
  person?: string
  organization?: string
}

/** The answer says nothing about which part was wrong. */
const refused = (): Refusal =>
  new Refusal(400, 'invalid_grant', 'The code is not valid, was used, or has expired')

/** Whether the client that sends the code is the one that it was issued to (PKCE), and means the same tool server. */
const isOf = (grant: Grant, form: Form, addresses: Addresses): boolean => {
  const { client_id, redirect_uri, code_verifier = '', resource = grant.resource } = form
  return (
    client_id === (grant.terminal ? terminalClient : grant.client_id) &&
    redirect_uri === grant.redirect_uri &&
    /^[\w.~-]{43,128}$/.test(code_verifier) &&
    sameSecret(sha256Base64url(code_verifier), grant.code_challenge) &&
    grant.resource === addresses.resource &&
    isResource(addresses, resource)
  )
}

/** None of an agent. */
const knownKeys = async (call: Call, { org_id, user_id, client_id, terminal }: Grant): Promise<KeyRow[]> =>
  terminal ? keysOfTerminal(call.db, { org_id, owner_user_id: user_id, client_id }).execute() : []

/** Uses a code up in one statement; false if it was used before, at any node. */
const useCode = async ({ db }: Call, hash: string, expires_at: string): Promise<boolean> => {
  const used = await db
    .insertInto('spent_challenges')
    .values({ hash, expires_at })
    .onConflict((of) => of.column('hash').doNothing())
    .returning('hash')
    .executeTakeFirst()
  return used !== undefined
}

/** A code that comes twice was stolen from one of the two: neither keeps what it got (OAuth 2.1, section 4.1.3). */
const revokeReplayed = async (call: Call, hash: string, grant: Grant): Promise<void> => {
  const key = await call.db
    .selectFrom('api_keys')
    .where('code_hash', '=', hash)
    .where('revoked_at', 'is', null)
    .select('id')
    .executeTakeFirst()
  if (key) await revokeKeys(call, [key.id, ...(await knownKeys(call, grant)).map(({ id }) => id)])
}

/** Whether the person is still a member, and the device with which they consented is not removed. */
const isActive = async ({ db, service }: Call, { org_id, user_id, device_id }: Grant): Promise<boolean> => {
  const device = await activeDevices(db, service.dev)
    .where('d.id', '=', device_id)
    .where('d.org_id', '=', org_id)
    .where('d.user_id', '=', user_id)
    .select('d.id')
    .executeTakeFirst()
  return device !== undefined
}

/** Gives a client a key, or its key a new secret: what it asked before the renewal stays its own. */
const issueKey = async (
  call: Call,
  grant: Grant,
  before: KeyRow | undefined,
  values: Pick<KeyRow, 'name' | 'scopes' | 'code_hash' | 'expires_at'>,
): Promise<string> => {
  const { org_id, user_id, device_id, client_id, client_name, resource, terminal } = grant
  const secret = newSecret('organization')
  const consent = { consented_with: device_id, owner_confirmed_at: call.now, ...values }
  if (before) await renewKeyRow(call, before, secret, { ...consent, name: before.name })
  const { id } =
    before ??
    (await insertKeyRow(call, secret, {
      ...consent,
      name: await freeAgentName(call, org_id, values.name),
      org_id,
      owner_user_id: user_id,
      created_by: null,
      created_at: call.now,
      audience: terminal ? null : resource,
      client_id,
      client_name,
    }))
  const what = terminal ? (before ? 'renewed' : 'signed_in') : 'agent'
  await call.audit(org_id, `key:${id}`, [what, `client:${client_id}`], actorAt({ user_id, device_id }))
  return secret.key
}

/** A terminal gets one key that asks and, of an administrator, one that manages. A renewal replaces their secrets. */
const issue = async (call: Call, grant: Grant, hash: string): Promise<Token> => {
  const { org_id, name, terminal } = grant
  const expires_in = await lastingSeconds(call.db, org_id, terminal)
  const expires_at = addMs(call.now, expires_in * 1000)
  const known = (await knownKeys(call, grant)).filter((row) => isAuthenticKey(call.keyring, row))
  const granted = await grantedScopes(call.db, grant, grant)
  const management = scopesText(granted.filter((scope) => scope !== 'ask'))
  const asking = known.find(({ scopes }) => scopes === 'ask')
  const managing = known.find(({ scopes }) => scopes !== 'ask')
  const token: Token = {
    access_token: await issueKey(call, grant, asking, { name, scopes: 'ask', code_hash: hash, expires_at }),
    token_type: 'Bearer',
    expires_in,
    scope: 'ask',
    ...(terminal && {
      person: await nameOf(call.db, { org_id, user_id: grant.user_id }),
      organization: (await organizationRow(call.db, org_id)).slug,
    }),
  }
  if (management !== '')
    return {
      ...token,
      management_scope: management.replaceAll(',', ' '),
      management_token: await issueKey(call, grant, managing, {
        name: `${name}, management`,
        scopes: management,
        code_hash: null,
        expires_at,
      }),
    }
  if (managing) await revokeKeys(call, [managing.id])
  return token
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/** Exchanges an authorization code, or that of a terminal which waited, for keys, once. A wrong attempt uses it up, too. */
export const exchangeCode = async (service: Service, addresses: Addresses, form: Form): Promise<Token> => {
  const { grant_type, device_code = '' } = form
  if (grant_type !== 'authorization_code' && grant_type !== deviceGrant)
    throw new OAuthProblem('unsupported_grant_type', 'grant_type must be authorization_code')
  const device = grant_type === deviceGrant ? sha256(device_code) : undefined
  const code = device === undefined ? (form.code ?? '') : await codeOfDevice(service, device)
  const grant = unseal(service.keyring, 'authorization code', code, service.storage.now())
  if (!grant) throw new OAuthProblem('invalid_grant', refused().message)
  const hash = sha256(code)
  const work = async (_: object, call: Call): Promise<Token | Refusal> => {
    if (!(await useCode(call, hash, grant.expires_at))) {
      await revokeReplayed(call, hash, grant)
      return refused()
    }
    const isRight =
      device === undefined
        ? grant.terminal?.device === undefined && isOf(grant, form, addresses)
        : grant.terminal?.device?.hash === device
    if (!isRight || grant.expires_at <= call.now || !(await isActive(call, grant))) return refused()
    // Several consents can wait for their exchange.
    return (await tooManyAgents(call, grant, grant)) ?? issue(call, grant, hash)
  }
  const result = await runWrite(
    service,
    {
      action: 'connectAgent',
      caller: anonymousCaller,
      requestId: requestId(),
      fieldNames: [],
      org: grant.org_id,
    },
    work,
    {},
    async (_call, run) => (await run()).data,
  )
  if (result instanceof Refusal) throw new OAuthProblem('invalid_grant', result.message)
  return result
}
