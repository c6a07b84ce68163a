import type { Context } from 'hono'
import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { AskingDefaults } from '../../contract/asking-defaults.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../call/caller.ts'
import { readJson, toolCallLimit } from '../http/body.ts'
import type { MountedRoute, Trace } from '../http/routes.ts'
import type { Authenticate } from '../keys/authenticator.ts'
import type { Rate } from '../call/service.ts'
import { createBearer, isDirectLocalCall, localCaller } from './bearer.ts'
import { oauthRoutes } from './oauth-refusal.ts'
import { createSharedRequests } from './shared-requests.ts'
import type { createStreamableHttp } from './streamable-http.ts'

type Options = {
  authenticate: Authenticate
  /** Asks in the name of one caller. */
  gatewayFor(caller: Caller): ApprovalGateway
  /** MCP_AUTH_TOKEN. */
  token: string | undefined
  /** Counts the requests of keys. */
  rate: Rate
  /** What a call means by leaving a field out. */
  defaults?: AskingDefaults
  /** The service listens on loopback and knows of no proxy: a direct call then needs no bearer where none was set. */
  localOnly: boolean
}

type Respond = (context: Context, trace: Trace) => Promise<Response>

export type McpServer = { routes: MountedRoute[]; close(): Promise<void> }

const failure = (
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response =>
  new Response(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  })

const unauthorized = (message: string): Response =>
  failure(401, -32001, message, { 'www-authenticate': 'Bearer' })

const loadAfterMs = 1_000

const rpcCodes: Record<number, number> = { 400: -32700 }

const marked =
  (respond: Respond): Respond =>
  async (context, trace) => {
    const response = await respond(context, trace)
    response.headers.set('x-request-id', trace.id)
    response.headers.set('x-content-type-options', 'nosniff')
    if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store')
    return response
  }

/** The tool server at `POST /mcp`. Who asks is decided before the body is read. */
export const createMcpServer = ({
  authenticate,
  gatewayFor,
  token,
  rate,
  defaults = {},
  localOnly,
}: Options): McpServer => {
  const callerOf = createBearer({ token, authenticate })
  const shared = createSharedRequests()
  const mayOmit = token === undefined && localOnly
  // The SDK is loaded soon after the start, so that the start does not wait for it, and before the package can be
  // replaced under a service that runs.
  let streamableHttp: Promise<ReturnType<typeof createStreamableHttp>> | undefined
  const load = (): NonNullable<typeof streamableHttp> =>
    (streamableHttp ??= import('./streamable-http.ts').then(
      (loaded) => loaded.createStreamableHttp(),
      (error: unknown) => {
        // The next request tries again: a file that could not be opened once is no reason to refuse for ever.
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
      const caller = await callerOf(header)
      if (caller) await rate(caller)
      return caller ?? unauthorized('The bearer token is not valid')
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { status, message, hint } = error
      const said = hint === undefined ? message : `${message}. ${hint}`
      return status === 401 ? unauthorized(said) : failure(status, -32003, said, error.headers)
    }
  }

  const respond = async (context: Context, trace: Trace): Promise<Response> => {
    const caller = await identify(context)
    if (caller instanceof Response) return caller
    trace.key = caller.name
    let body: unknown
    try {
      body = await readJson(context, toolCallLimit)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return failure(error.status, rpcCodes[error.status] ?? -32000, error.message)
    }
    if (body === undefined) return failure(400, -32700, 'The body is missing')
    const report = (error: Error): void => void (trace.error = error.stack ?? error.message)
    const { keyId, orgId } = caller
    const toolContext = {
      gateway: gatewayFor(caller),
      defaults,
      shared,
      caller: JSON.stringify([keyId, orgId]),
    }
    return (await load()).answer(context.req.raw, { body, caller, toolContext, report })
  }

  /** Every method but POST: 401 to a stranger, else 405. */
  const refuseMethod = async (context: Context, trace: Trace): Promise<Response> => {
    const caller = await identify(context)
    if (caller instanceof Response) return caller
    trace.key = caller.name
    return failure(405, -32000, `Use POST: this server has no ${context.req.method}`, {
      allow: 'POST, OPTIONS',
    })
  }

  return {
    routes: [
      { method: 'POST', path: '/mcp', respond: marked(respond) },
      ...['GET', 'DELETE', 'PUT', 'PATCH'].map((method) => ({
        method,
        path: '/mcp',
        respond: marked(refuseMethod),
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
