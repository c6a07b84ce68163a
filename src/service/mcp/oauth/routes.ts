import type { Context } from 'hono'
import { requestId } from '../../../core/ids.ts'
import { revokeKeys } from '../../approvals/key-revocation.ts'
import type { Call } from '../../call/call.ts'
import type { Service } from '../../call/service.ts'
import { runWrite } from '../../call/run.ts'
import { terminalClient } from '../../call/sign-in.ts'
import { readForm, readJson } from '../../http/body.ts'
import type { MountedRoute } from '../../http/routes.ts'
import { keysOfTerminal } from '../../keys/agents.ts'
import type { Authenticate } from '../../keys/authenticator.ts'
import type { Addresses } from './addresses.ts'
import { json, OAuthProblem, oauthRoute, readParameters } from './answer.ts'
import { createAuthorizeRoute } from './authorize.ts'
import { readMetadata } from './client.ts'
import { startDevice } from './device.ts'
import { createMetadataRoutes } from './metadata.ts'
import { register } from './registration.ts'
import { exchangeCode } from './token.ts'

type Options = {
  service: Service
  authenticate: Authenticate
  addresses: Addresses
  /** The address of a client, for limits. */
  addressOf(context: Context): string | undefined
}

/** Far more than any client sends. */
const limit = { kib: 16, values: 200 }

const readFields = async (context: Context) => readParameters(await readForm(context, limit))

/**
 * Revokes the key of an agent, or both of a terminal, that its client no longer needs (RFC 7009). Says nothing about an
 * unknown one.
 */
const revoke = async (
  { service, authenticate, addresses }: Options,
  token: string,
  clientId: string | undefined,
): Promise<void> => {
  const caller = await Promise.resolve(authenticate(token, addresses.resource)).catch(() => undefined)
  if (!caller) return
  const { keyId, orgId } = caller
  const row = await service.storage.read((db) =>
    db
      .selectFrom('api_keys')
      .where('id', '=', keyId)
      .select(['client_id', 'audience', 'owner_user_id'])
      .executeTakeFirst(),
  )
  if (!row || row.client_id === null) return
  const isTerminal = row.audience === null
  if (clientId !== undefined && (isTerminal ? terminalClient : row.client_id) !== clientId)
    throw new OAuthProblem('invalid_client', 'The token belongs to another client', 401)
  const work = async (_: object, call: Call): Promise<void> => {
    const others = isTerminal ? await keysOfTerminal(call.db, { ...row, org_id: orgId! }).execute() : []
    await revokeKeys(call, [...new Set([keyId, ...others.map(({ id }) => id)])])
  }
  await runWrite(
    service,
    { action: 'disconnectAgent', caller, requestId: requestId(), fieldNames: [] },
    work,
    {},
    async (_call, run) => (await run()).data,
  )
}

const allowOrigin = { 'access-control-allow-origin': '*' }

/**
 * A route that clients in a browser can call from their own site (Fetch, CORS protocol), and the preflight before it. Only
 * for routes that read no cookie: what they give belongs to whoever has the code, the verifier or the token.
 */
const forAnyOrigin = (route: MountedRoute): MountedRoute[] => [
  {
    ...route,
    isForAnyOrigin: true,
    respond: async (context, trace) => {
      const response = await route.respond(context, trace)
      for (const [name, value] of Object.entries(allowOrigin)) response.headers.set(name, value)
      return response
    },
  },
  {
    method: 'OPTIONS',
    path: route.path,
    isHidden: true,
    isForAnyOrigin: true,
    respond: (_, { id }) =>
      new Response(null, {
        status: 204,
        headers: {
          ...allowOrigin,
          'access-control-allow-methods': route.method,
          'access-control-allow-headers': 'content-type, mcp-protocol-version',
          'x-request-id': id,
        },
      }),
  },
]

/** The authorization server of the tool server: discovery, registration, authorization, tokens and revocation. */
export const createOAuthRoutes = (options: Options): MountedRoute[] => {
  const { service, addresses, addressOf } = options
  const forClients = [
    ...createMetadataRoutes(addresses),
    oauthRoute('POST', '/register', async (context, { id }) => {
      const metadata = readMetadata(await readJson(context, limit))
      const { issued_at, ...registered } = await register(service, metadata, addressOf(context))
      return json(
        201,
        {
          ...registered,
          client_id_issued_at: Math.floor(Date.parse(issued_at) / 1000),
          grant_types: ['authorization_code'],
          response_types: ['code'],
          token_endpoint_auth_method: 'none',
          scope: 'ask',
        },
        id,
      )
    }),
    oauthRoute('POST', '/device_authorization', async (context, { id }) =>
      json(200, await startDevice(service, addresses, await readFields(context), addressOf(context)), id),
    ),
    oauthRoute('POST', '/token', async (context, { id }) =>
      json(200, await exchangeCode(service, addresses, await readFields(context)), id),
    ),
    oauthRoute('POST', '/revoke', async (context, { id }) => {
      const { token, client_id } = await readFields(context)
      if (token === undefined) throw new OAuthProblem('invalid_request', 'token is missing')
      await revoke(options, token, client_id)
      return json(200, {}, id)
    }),
  ]
  // The browser of a person goes to the other one, which no script may call.
  return [createAuthorizeRoute(service, addresses), ...forClients.flatMap(forAnyOrigin)]
}

const error_description =
  'This service has no OAuth, because people cannot sign at its address: it needs a host name and https (--public-url). ' +
  'Configure the client to send the header "Authorization: Bearer <token>", where the token is MCP_AUTH_TOKEN of the ' +
  'service or an API key with the scope "ask".'

const refusals: [method: string, path: string, status: number, error: string][] = [
  // Discovery must be a 404, or clients try to use OAuth.
  ...['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration']
    .flatMap((name) => [`/.well-known/${name}`, `/.well-known/${name}/mcp`, `/mcp/.well-known/${name}`])
    .map((path): [string, string, number, string] => ['GET', path, 404, 'invalid_request']),
  ['GET', '/authorize', 400, 'access_denied'],
  ['POST', '/token', 400, 'access_denied'],
  ['POST', '/register', 403, 'access_denied'],
]

/** The error as OAuth clients read it, so that the person at the client learns what to configure. */
export const createNoOAuthRoutes = (): MountedRoute[] =>
  refusals.map(([method, path, status, error]) => ({
    method,
    path,
    isHidden: true,
    respond: (_, { id }) => json(status, { error, error_description }, id),
  }))
