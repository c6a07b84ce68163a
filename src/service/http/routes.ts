import type { Context } from 'hono'
import type { Operation } from '../../contract/operation.ts'

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
  path: (path.startsWith('/svc/') ? path : apiRoot + path).replace(/\{(\w+)\}/g, ':$1'),
})

// `~` sorts behind every static segment, so that `/organization/create` is met before `/organization/:org_id`.
const rank = (path: string): string => path.replace(/:\w+/g, '~')

export const bySpecificity = (a: Route, b: Route): number => (rank(a.path) < rank(b.path) ? -1 : 1)

/** The methods that a path knows; none when there is no such path. For answers 405 and OPTIONS only. */
export const createAllow = (routes: readonly Route[]) => {
  const patterns = routes.map(({ method, path }) => ({
    method,
    segments: path.split('/').map((segment) => (segment.startsWith(':') ? undefined : segment)),
  }))
  return (path: string): string[] => {
    const asked = path.split('/')
    const methods = patterns
      .filter(
        ({ segments }) =>
          segments.length === asked.length &&
          segments.every((segment, i) => (segment === undefined ? asked[i] !== '' : segment === asked[i])),
      )
      .map(({ method }) => method)
    if (methods.length === 0) return []
    return [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'])]
  }
}
