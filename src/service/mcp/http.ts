import type { Context } from 'hono'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../call/caller.ts'
import type { Rate } from '../call/service.ts'
import { readJson, toolCallLimit } from '../http/body.ts'
import type { MountedRoute, Trace } from '../http/routes.ts'
import type { Authenticate } from '../keys/authenticator.ts'
import { type Addresses, metadataPath, resourceAt } from './oauth/addresses.ts'
import { createBearer, isDirectLocalCall, localCaller } from './bearer.ts'
import { createSharedRequests } from '../../tools/server/shared-requests.ts'
import type { createStreamableHttp } from './streamable-http.ts'
import type { Nodes } from './legacy-http.ts'

type Options = {
  authenticate: Authenticate
  /** The authorization server of this tool server; undefined if nobody could consent at its address. */
  addresses?: Addresses | undefined
  /** For a call that is cancelled by a message to another node. */
  nodes: Nodes
  /** The gateway that requests approvals for the caller of one request. */
  gatewayFor(caller: Caller, context: Context): ApprovalGateway
  /** MCP_AUTH_TOKEN. */
  token: string | undefined
  /** Counts the requests of keys. */
  rate: Rate['count']
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

const refuseMethod: Respond = async ({ req }) =>
  failure(405, -32000, `Use POST: this server has no ${req.method}`, { allow: 'POST, OPTIONS' })

const loadAfterMs = 1_000

/** The tool server at `POST /mcp`. The caller is identified before the body is read. */
export const createMcpServer = ({
  authenticate,
  addresses,
  nodes,
  gatewayFor,
  token,
  rate,
  defaults = {},
  localOnly,
  outlived = false,
}: Options): McpServer => {
  const readCaller = createBearer(authenticate, token, addresses?.resource)
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

  /** Tells a client how to get a token (RFC 9728). */
  const unauthorized = ({ req }: Context, message: string, error?: 'invalid_token'): Response => {
    const words = [
      error && `error="${error}"`,
      addresses &&
        `resource_metadata="${new URL(resourceAt(addresses, new URL(req.url).origin)).origin}${metadataPath}/mcp"`,
      addresses && 'scope="ask"',
    ].filter(Boolean)
    // Some clients start to authorize only if the text says this.
    return failure(401, -32001, `Unauthorized: ${message}`, {
      'www-authenticate': ['Bearer', words.join(', ')].join(' ').trim(),
    })
  }

  const identify = async (context: Context): Promise<Caller | Response> => {
    const header = context.req.header('authorization')
    if (header === undefined)
      return mayOmit && isDirectLocalCall(context)
        ? localCaller
        : unauthorized(context, 'The header Authorization: Bearer is missing')
    try {
      const caller = await readCaller(header)
      if (caller) await rate(caller)
      return caller ?? unauthorized(context, 'The bearer token is not valid', 'invalid_token')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, message, hint } = error
      const text = hint === undefined ? message : `${message}. ${hint}`
      return status === 401
        ? unauthorized(context, text, 'invalid_token')
        : failure(status, -32003, text, error.headers)
    }
  }

  /** Identifies the caller before `respond` gets the request, and completes the headers of the answer. */
  const authenticated =
    (respond: Respond): MountedRoute['respond'] =>
    async (context, trace) => {
      const caller = await identify(context)
      if (!(caller instanceof Response)) [trace.key, trace.orgId] = [caller.name, caller.orgId]
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
    const { agent } = caller
    const own = agent ? { ...defaults, approvers: [agent.mobile] } : defaults
    const toolContext = { gateway: gatewayFor(caller, context), defaults: own, shared, caller: identity }
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
    ],
    close: async () => {
      clearTimeout(loading)
      shared.stop()
      await (await streamableHttp)?.close()
    },
  }
}
