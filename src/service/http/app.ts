import { Hono, type Context } from 'hono'
import { createOpenApi } from '../../contract/openapi.ts'
import type { Operation } from '../../contract/operation.ts'
import { table, type OperationId, type Table } from '../../contract/table.ts'
import { requestId } from '../../core/ids.ts'
import { clientAddress, readNetwork } from '../../rules/network.ts'
import { nobody, type Handler, type Handlers } from '../call.ts'
import { createAuthenticator, type Authenticated } from '../keys.ts'
import type { Log } from '../log.ts'
import type { McpRoute } from '../mcp/http.ts'
import { Refusal } from '../refusal.ts'
import type { Service } from '../service.ts'
import { answer, internalError, refused } from './envelope.ts'
import { createGuards, type GuardOptions } from './guards.ts'
import { createOperationRoute } from './operation-route.ts'
import { bySpecificity, createAllow, routeOf, type Route } from './routes.ts'

export type AppOptions = {
  service: Service
  handlers: Handlers<Table>
  guards: GuardOptions
  /** The tool server. */
  mcp?: McpRoute
  log: Log
}

/** What is known of one request; the log line is made of it. */
type Trace = { id: string; origin: string; route: string; key?: string; error?: string }
type Env = { Variables: { trace: Trace } }

const anybody: Authenticated = { ...nobody, orgSlug: null }

const peerOf = (context: Context): string | undefined =>
  (context.env as { incoming?: { socket: { remoteAddress?: string } } } | undefined)?.incoming?.socket
    .remoteAddress

const unauthenticated = (): Refusal =>
  new Refusal(401, 'unauthenticated', 'The header x-api-key is missing, or its key is not valid', {
    hint: 'Send a key that is neither revoked nor expired in the header x-api-key',
  })

/** The whole REST side: guards first, then the routes of the table. */
export const createApp = (options: AppOptions): Hono<Env> => {
  const { service, handlers, log } = options
  const { storage, keyring, publicUrl } = service
  const authenticate = createAuthenticator(storage)
  const guard = createGuards(options.guards)
  const proxies = options.guards.trustedProxy.map(readNetwork).filter((one) => one !== undefined)
  const app = new Hono<Env>()
  const routes: Route[] = []

  const refuse = (context: Context<Env>, error: unknown): Response => {
    const trace = context.get('trace')
    const cause = error instanceof Refusal ? error.cause : error
    if (cause !== undefined)
      trace.error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
    if (error instanceof Refusal) return answer(error.status, refused(error), trace.id, error.headers)
    return answer(500, internalError, trace.id)
  }

  app.use(async (context, next) => {
    const started = performance.now()
    const trace: Trace = { id: requestId(), origin: '', route: '-' }
    context.set('trace', trace)
    try {
      const { redirect, origin } = guard(context)
      trace.origin = origin
      if (redirect === undefined) await next()
      else
        context.res = answer(301, { status: 'error', message: 'Use https' }, trace.id, { location: redirect })
    } catch (error) {
      context.res = refuse(context, error)
    }
    log({
      at: storage.now(),
      level: trace.error === undefined ? 'info' : 'error',
      request_id: trace.id,
      method: context.req.method,
      route: trace.route,
      status: context.res.status,
      ms: Math.round((performance.now() - started) * 100) / 100,
      key: trace.key,
      error: trace.error,
    })
  })
  app.onError((error, context) => refuse(context, error))

  const open = (path: string, respond: (trace: Trace) => Response): void => {
    routes.push({ method: 'GET', path })
    app.get(path, (context) => {
      const trace = context.get('trace')
      trace.route = path
      return respond(trace)
    })
  }
  open('/health', ({ id }) => answer(200, { ok: true, transport: 'http' }, id, { 'svc-idempotency': '24h' }))
  open('/.well-known/jwks.json', ({ id }) => answer(200, keyring.jwks(), id))
  let openApi: Record<string, unknown> | undefined
  open('/openapi.json', ({ id }) => answer(200, (openApi ??= createOpenApi(publicUrl)), id))

  const { mcp } = options
  if (mcp) {
    routes.push({ method: 'POST', path: '/mcp' })
    app.post('/mcp', (context) => {
      const trace = context.get('trace')
      trace.route = '/mcp'
      return mcp.answer(context, trace)
    })
  }

  const operations = (Object.keys(table) as OperationId[])
    .map((id) => ({ id, operation: table[id] as Operation, route: routeOf(table[id]) }))
    .sort((a, b) => bySpecificity(a.route, b.route))
  for (const { id, operation, route } of operations) {
    const { method, path } = route
    routes.push(route)
    const handler = handlers[id] as Handler<Record<string, unknown>, unknown>
    const respond = createOperationRoute(id, operation, handler, service)
    const callerOf = (context: Context): Promise<Authenticated | undefined> | Authenticated =>
      operation.open ? anybody : authenticate(context.req.header('x-api-key'))
    app.on(method, path, async (context) => {
      const trace = context.get('trace')
      trace.route = path
      const caller = await callerOf(context)
      if (!caller) throw unauthenticated()
      if (!operation.open) trace.key = caller.name
      return respond({
        context,
        caller,
        requestId: trace.id,
        origin: trace.origin,
        ip: () => clientAddress(peerOf(context), context.req.header('x-forwarded-for'), proxies),
      })
    })
  }

  const allowed = createAllow(routes)
  app.notFound((context) => {
    const { id } = context.get('trace')
    const methods = allowed(context.req.path)
    const headers = { allow: methods.join(', ') }
    if (methods.length === 0)
      return refuse(
        context,
        new Refusal(404, 'no_such_route', 'There is no such route', {
          hint: 'The routes are listed at /openapi.json',
        }),
      )
    if (context.req.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: { ...headers, 'x-request-id': id } })
    return refuse(
      context,
      new Refusal(405, 'method_not_allowed', `This route does not take ${context.req.method}`, {
        hint: `Use ${methods.join(', ')}`,
        headers,
      }),
    )
  })
  return app
}
