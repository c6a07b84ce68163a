import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'
import { createPathMatcher, fillPath } from '../../contract/path.ts'

export const apiRoot = '/admin/public/api'

export type Route = { method: string; path: string }

/** What is known of one request; the log line is made of it. */
export type Trace = { id: string; key?: string; error?: string }

/** A route beside the operations of the table. */
export type MountedRoute = Route & {
  respond(context: Context, trace: Trace): Response | Promise<Response>
  /** No answer names it as a method that the path takes. */
  isHidden?: true
}

/** Where an operation is, below the origin, as Hono writes paths. */
export const routeOf = ({ method, path }: Operation): Route => ({
  method,
  path: fillPath(path.startsWith('/svc/') ? path : apiRoot + path, (name) => `:${name}`),
})

// `~` sorts behind every static segment, so that `/organization/create` is met before `/organization/:org_id`.
const rank = (path: string): string => path.replace(/:\w+/g, '~')

export const bySpecificity = (a: Route, b: Route): number => (rank(a.path) < rank(b.path) ? -1 : 1)

/** The methods that a path knows; none when there is no such path. For answers 405 and OPTIONS only. */
export const createAllow = (routes: readonly Route[]) => {
  const matchers = routes.map(({ method, path }) => ({
    method,
    matches: createPathMatcher(path.replaceAll(/:(\w+)/g, '{$1}')),
  }))
  return (path: string): string[] => {
    const methods = matchers.filter(({ matches }) => matches(path)).map(({ method }) => method)
    if (methods.length === 0) return []
    return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
  }
}
