import type { MountedRoute } from '../../http/routes.ts'
import { json } from './answer.ts'

const error_description =
  'This service has no OAuth, because people cannot sign at its address: it needs a host name and https (--public-url). ' +
  'Configure the client to send the header "Authorization: Bearer <token>", where the token is MCP_AUTH_TOKEN of the ' +
  'service or an API key with the scope "ask".'

const routes: [method: string, path: string, status: number, error: string][] = [
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
  routes.map(([method, path, status, error]) => ({
    method,
    path,
    isHidden: true,
    respond: (_, { id }) => json(status, { error, error_description }, id),
  }))
