import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { createPathMatcher, fillPath } from '../../contract/path.ts'

export const apiRoot = '/admin/public/api'

export type Route = { method: string; path: string }

/** One request, as its log line shows it. */
export type Trace = { id: string; key?: string; orgId?: number | null; error?: string }

/** A route that is not an operation of the table. */
export type MountedRoute = Route & {
  respond(context: Context, trace: Trace): Response | Promise<Response>
  /** Left out of the `allow` header. */
  isHidden?: true
  /** Only a request with another status than the one before is logged, because monitoring calls it every few seconds. */
  isProbe?: true
  /** Pages of other origins may call it: it reads no cookie, and its answers are the same for everybody. */
  isForAnyOrigin?: true
}

/** The route of an operation, with a path as Hono writes it. */
export const routeOf = ({ method, path }: Operation): Route => ({
  method,
  path: fillPath(path.startsWith('/svc/') ? path : apiRoot + path, (name) => `:${name}`),
})

// `~` sorts behind every static segment, so that `/organization/create` comes before `/organization/:org_id`.
const rank = (path: string): string => path.replace(/:\w+/g, '~')

export const bySpecificity = (a: Route, b: Route): number => (rank(a.path) < rank(b.path) ? -1 : 1)

/** The methods of a path, for 405 and OPTIONS; none if the path does not exist. */
export const createAllow = (routes: readonly Route[]) => {
  // Few services are ever asked for a wrong route.
  let matchers: { method: string; matches(path: string): boolean }[] | undefined
  return (path: string): string[] => {
    matchers ??= routes.map((route) => ({
      method: route.method,
      matches: createPathMatcher(route.path.replaceAll(/:(\w+)/g, '{$1}')),
    }))
    const methods = matchers.filter(({ matches }) => matches(path)).map(({ method }) => method)
    if (methods.length === 0) return []
    return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
  }
}
