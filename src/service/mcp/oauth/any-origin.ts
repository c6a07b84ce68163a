import type { MountedRoute } from '../../http/routes.ts'

const allowOrigin = { 'access-control-allow-origin': '*' }

/**
 * A route that clients in a browser can call from their own site (Fetch, CORS protocol), and the preflight before it. Only
 * for routes that read no cookie: what they give belongs to whoever has the code, the verifier or the token.
 */
export const forAnyOrigin = (route: MountedRoute): MountedRoute[] => [
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
