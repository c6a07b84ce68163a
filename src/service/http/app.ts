import { type Context, Hono } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { type OperationId, table, type Table } from '../../contract/table.ts'
import { requestId } from '../../core/ids.ts'
import type { Log } from '../../core/log.ts'
import { Refusal } from '../../core/refusal.ts'
import { readTraceParent } from '../../core/traceparent.ts'
import { createSessionAuthenticator } from '../page/session.ts'
import type { Handler, Handlers } from '../call/call.ts'
import { anonymousCaller, type Authenticated, sessionOver } from '../call/caller.ts'
import type { Service } from '../call/service.ts'
import { unauthenticated } from '../call/preconditions.ts'
import type { Authenticate } from '../keys/authenticator.ts'
import { listsOf } from './body.ts'
import { answer, type Answered, internalError, refused } from './envelope.ts'
import {
  createAddressReader,
  createEntryCheck,
  type EntryOptions,
  isOfPage,
  requirePageOrigin,
} from './entry-check.ts'
import { createProbes, type Phase } from './health.ts'
import type { ObserveResponse } from './metrics/event-counts.ts'
import { createOpenLists } from './open-lists.ts'
import { createOperationRoute } from './operation-route.ts'
import { createPageRoutes } from './page-routes.ts'
import { createResponseCache } from './response-cache.ts'
import {
  apiRoot,
  bySpecificity,
  createAllow,
  type MountedRoute,
  type Route,
  routeOf,
  type Trace,
} from './routes.ts'
import { createOpenApiRoute } from './static-file.ts'
import { createTurns } from '../limits/turns.ts'

type AppOptions = {
  service: Service
  authenticate: Authenticate
  handlers: Handlers<Table>
  entry: EntryOptions
  /** For example the tool server. */
  mounted: readonly MountedRoute[]
  /** 'serving' if left out. */
  phase?: (() => Phase) | undefined
  /** Returns what counts the responses of a route. */
  count?: ((route: string) => ObserveResponse) | undefined
  log: Log
}

type RequestTrace = Trace & Answered & { origin: string }

/** The operations with their routes, in the order in which they must be matched. */
const operations = (Object.keys(table) as OperationId[])
  .map((id) => ({ id, operation: table[id] as Operation, route: routeOf(table[id]) }))
  .sort((a, b) => bySpecificity(a.route, b.route))

const anonymous: Authenticated = { ...anonymousCaller, orgSlug: null }

const refuse = (trace: RequestTrace, error: unknown): Response => {
  const cause = error instanceof Refusal ? error.cause : error
  if (cause !== undefined)
    trace.error = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
  if (error instanceof Refusal) return answer(error.status, refused(error), trace, error.headers)
  return answer(500, internalError, trace)
}

/** The HTTP application: the entry check, then the operations of the table and the other routes. */
export const createApp = (options: AppOptions): Hono => {
  const { service, authenticate, handlers, log } = options
  const { storage, keyring, publicUrl } = service
  const authenticateSession = createSessionAuthenticator(service)
  const responses = createResponseCache(storage.revision)
  // An embedded store reads in this thread.
  const turns = createTurns(storage.shared ? 2 : 1)
  const openLists = createOpenLists()
  const enter = createEntryCheck(options.entry)
  const addressOf = createAddressReader(options.entry)
  const app = new Hono()
  const routes: Route[] = []

  /** Runs the entry check before `respond` and logs after it. Stays synchronous if `respond` is: that is much cheaper. */
  const traced = (
    route: string,
    respond: (context: Context, trace: RequestTrace) => Response | Promise<Response>,
    { isProbe, isForAnyOrigin }: Pick<MountedRoute, 'isProbe' | 'isForAnyOrigin'> = {},
  ) => {
    const count = options.count?.(route)
    let logged: number | undefined
    return (context: Context): Response | Promise<Response> => {
      const started = performance.now()
      const ip = addressOf(context)
      const trace: RequestTrace = { id: requestId(), origin: '' }
      const finish = (response: Response): Response => {
        // Clients measure a deadline with it. Otherwise the server sets the time of this machine.
        if (storage.shared) response.headers.set('date', new Date(storage.now()).toUTCString())
        const ms = performance.now() - started
        count?.(context.req.method, response.status, ms)
        if (isProbe && response.status === logged) return response
        logged = response.status
        log({
          at: storage.now(),
          level: trace.error === undefined ? 'info' : 'error',
          request_id: trace.id,
          method: context.req.method,
          route,
          status: response.status,
          ms: Math.round(ms * 100) / 100,
          key: trace.key,
          org_id: trace.orgId ?? undefined,
          ip,
          error: trace.error,
          ...readTraceParent(context.req.header('traceparent')),
        })
        return response
      }
      const fail = (error: unknown): Response => finish(refuse(trace, error))
      try {
        const { redirect, origin } = enter(context, isForAnyOrigin)
        if (redirect !== undefined)
          return finish(answer(301, { status: 'error', message: 'Use https' }, trace, { location: redirect }))
        trace.origin = origin
        const response = respond(context, trace)
        return response instanceof Promise ? response.then(finish, fail) : finish(response)
      } catch (error) {
        return fail(error)
      }
    }
  }
  app.onError((error, context) =>
    traced('-', () => {
      throw error
    })(context),
  )

  const mount = ({ method, path, respond, isHidden, ...how }: MountedRoute): void => {
    if (!isHidden) routes.push({ method, path })
    app.on(method, path, traced(path, respond, how))
  }
  const jwks: MountedRoute = {
    method: 'GET',
    path: '/.well-known/jwks.json',
    respond: async (_, trace) => answer(200, { ...(await keyring.jwks()), issuer: publicUrl }, trace),
  }
  const probes = createProbes(service, options.phase ?? (() => 'serving'))
  for (const route of [
    ...probes,
    jwks,
    createOpenApiRoute(publicUrl),
    ...createPageRoutes(service),
    ...options.mounted,
  ])
    mount(route)

  for (const { id, operation, route } of operations) {
    const { method, path } = route
    routes.push(route)
    const handler = handlers[id] as Handler<Record<string, unknown>, unknown>
    let compiled: ReturnType<typeof createOperationRoute> | undefined
    // Compiled for its first request: a service starts faster, and few requests need many operations.
    const respond: ReturnType<typeof createOperationRoute> = (request) =>
      (compiled ??= createOperationRoute(id, operation, handler, { service, responses, turns, openLists }))(
        request,
      )
    const onlyFromPage = isOfPage(operation)
    let changesMany: boolean | undefined
    const callerOf = (context: Context): Promise<Authenticated | undefined> | Authenticated | undefined => {
      if (onlyFromPage) requirePageOrigin(context, publicUrl)
      const outsider = operation.open ? anonymous : undefined
      if (operation.session) return authenticateSession(context, outsider !== undefined)
      return outsider ?? authenticate(context.req.header('x-api-key'))
    }
    app.on(
      method,
      path,
      traced(path, (context, trace) => {
        const answerTo = (caller: Authenticated | undefined): Promise<Response> | Response => {
          if (!caller) throw operation.session ? sessionOver() : unauthenticated()
          if (!operation.open) [trace.key, trace.orgId] = [caller.name, caller.orgId]
          const limits = service.rate.count(caller, (changesMany ??= listsOf(operation).length > 0))
          const proceed = (headers: Record<string, string>): Promise<Response> | Response => {
            trace.limits = headers
            return respond({
              context,
              caller,
              trace,
              origin: trace.origin,
              ip: () => addressOf(context),
              renew: () => callerOf(context),
              broken: (error) =>
                log({
                  at: storage.now(),
                  level: 'error',
                  message: 'A list ended before its end',
                  request_id: trace.id,
                  key: trace.key,
                  error: error instanceof Refusal ? error.message : String(error),
                }),
            })
          }
          return limits instanceof Promise ? limits.then(proceed) : proceed(limits)
        }
        const caller = callerOf(context)
        return caller instanceof Promise ? caller.then(answerTo) : answerTo(caller)
      }),
    )
  }

  const allowed = createAllow(routes)
  app.notFound(
    traced('-', (context, { id }) => {
      const methods = allowed(context.req.path)
      const headers = { allow: methods.join(', ') }
      if (methods.length === 0)
        throw new Refusal(404, 'no_such_route', 'Route not found', {
          hint: `REST routes start with ${apiRoot}; /openapi.json lists all of them`,
        })
      if (context.req.method === 'OPTIONS')
        return new Response(null, { status: 204, headers: { ...headers, 'x-request-id': id } })
      throw new Refusal(405, 'method_not_allowed', `${context.req.method} is not allowed on this route`, {
        hint: `Use ${methods.join(', ')}`,
        headers,
      })
    }),
  )
  return app
}
