import type { Context } from 'hono'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../call/caller.ts'
import type { Rate } from '../call/service.ts'
import { readJson, toolCallLimit } from '../http/body.ts'
import type { MountedRoute, Trace } from '../http/routes.ts'
import type { Authenticate } from '../keys/authenticator.ts'
import { createBearer, isDirectLocalCall, localCaller } from './bearer.ts'
import { createSharedRequests } from './shared-requests.ts'
import type { createStreamableHttp } from './streamable-http.ts'
import type { Nodes } from './legacy-http.ts'

/** Where a client looks for OAuth after a 401, as the MCP specification says. */
const discovery = ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration']
  .flatMap((name) => [`/.well-known/${name}`, `/.well-known/${name}/mcp`, `/mcp/.well-known/${name}`])
  .map((path) => ({ method: 'GET', path, status: 404, error: 'invalid_request' }))

const error_description =
  'This service has no OAuth and registers no clients. Configure the client to send the header "Authorization: Bearer ' +
  '<token>", where the token is MCP_AUTH_TOKEN of the service or an API key with the scope "ask".'

/** The error as OAuth clients read it, so that the person at the client learns what to configure. */
const refusal = (status: number, error: string, requestId: string): Response =>
  Response.json(
    { error, error_description },
    {
      status,
      headers: {
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': requestId,
      },
    },
  )

/** The routes of OAuth, which this service does not support. Discovery must be a 404, or clients try to use OAuth. */
const oauthRoutes: MountedRoute[] = [
  ...discovery,
  { method: 'GET', path: '/authorize', status: 400, error: 'access_denied' },
  { method: 'POST', path: '/token', status: 400, error: 'access_denied' },
  { method: 'POST', path: '/register', status: 403, error: 'access_denied' },
].map(({ method, path, status, error }) => ({
  method,
  path,
  isHidden: true,
  respond: (_, { id }) => refusal(status, error, id),
}))

type Options = {
  authenticate: Authenticate
  /** For a call that is cancelled by a message to another node. */
  nodes: Nodes
  /** The gateway that requests approvals for one caller. */
  gatewayFor(caller: Caller): ApprovalGateway
  /** MCP_AUTH_TOKEN. */
  token: string | undefined
  /** Counts the requests of keys. */
  rate: Rate
  /** The values of fields that a call leaves out. */
  defaults?: AskingDefaults
  /** Other nodes continue when this one stops, so its pending requests stay. */
  outlived?: boolean
  /** The service listens on loopback and has no proxy. Without `token`, a direct call then needs no bearer token. */
  localOnly: boolean
}

type Respond = (context: Context, trace: Trace, caller: Caller) => Promise<Response>

export type McpServer = { routes: MountedRoute[]; close(): Promise<void> }

const failure = (
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response =>
  Response.json(
    { jsonrpc: '2.0', id: null, error: { code, message } },
    { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers } },
  )

const unauthorized = (message: string): Response =>
  failure(401, -32001, message, { 'www-authenticate': 'Bearer' })

const refuseMethod: Respond = async ({ req }) =>
  failure(405, -32000, `Use POST: this server has no ${req.method}`, { allow: 'POST, OPTIONS' })

const loadAfterMs = 1_000

/** The tool server at `POST /mcp`. The caller is identified before the body is read. */
export const createMcpServer = ({
  authenticate,
  nodes,
  gatewayFor,
  token,
  rate,
  defaults = {},
  localOnly,
  outlived = false,
}: Options): McpServer => {
  const readCaller = createBearer({ token, authenticate })
  const shared = createSharedRequests({ outlived })
  const mayOmit = token === undefined && localOnly
  // The SDK is loaded soon after the start: the start does not wait for it, and an upgrade of the package does not replace
  // it under a running service.
  let streamableHttp: Promise<ReturnType<typeof createStreamableHttp>> | undefined
  const load = (): NonNullable<typeof streamableHttp> =>
    (streamableHttp ??= import('./streamable-http.ts').then(
      (loaded) => loaded.createStreamableHttp(nodes),
      (error: unknown) => {
        // The next request tries again, because the reason may be temporary.
        streamableHttp = undefined
        throw error
      },
    ))
  const loading = setTimeout(() => void load().catch(() => undefined), loadAfterMs).unref()

  const identify = async (context: Context): Promise<Caller | Response> => {
    const header = context.req.header('authorization')
    if (header === undefined)
      return mayOmit && isDirectLocalCall(context)
        ? localCaller
        : unauthorized('The header Authorization: Bearer is missing')
    try {
      const caller = await readCaller(header)
      if (caller) await rate(caller)
      return caller ?? unauthorized('The bearer token is not valid')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, message, hint } = error
      const text = hint === undefined ? message : `${message}. ${hint}`
      return status === 401 ? unauthorized(text) : failure(status, -32003, text, error.headers)
    }
  }

  /** Identifies the caller before `respond` gets the request, and completes the headers of the answer. */
  const authenticated =
    (respond: Respond): MountedRoute['respond'] =>
    async (context, trace) => {
      const caller = await identify(context)
      if (!(caller instanceof Response)) trace.key = caller.name
      const response = caller instanceof Response ? caller : await respond(context, trace, caller)
      response.headers.set('x-request-id', trace.id)
      response.headers.set('x-content-type-options', 'nosniff')
      if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
      return response
    }

  const respond: Respond = async (context, trace, caller) => {
    let body: unknown
    try {
      body = await readJson(context, toolCallLimit)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return failure(error.status, error.status === 400 ? -32700 : -32000, error.message)
    }
    if (body === undefined) return failure(400, -32700, 'The body is missing')
    const report = (error: Error): void => void (trace.error = error.stack ?? error.message)
    const identity = JSON.stringify([caller.keyId, caller.orgId])
    const toolContext = { gateway: gatewayFor(caller), defaults, shared, caller: identity }
    return (await load()).answer(context.req.raw, { body, caller, toolContext, report })
  }

  return {
    routes: [
      { method: 'POST', path: '/mcp', respond: authenticated(respond) },
      ...['GET', 'DELETE', 'PUT', 'PATCH'].map((method) => ({
        method,
        path: '/mcp',
        respond: authenticated(refuseMethod),
        isHidden: true as const,
      })),
      ...oauthRoutes,
    ],
    close: async () => {
      clearTimeout(loading)
      shared.stop()
      await (await streamableHttp)?.close()
    },
  }
}
