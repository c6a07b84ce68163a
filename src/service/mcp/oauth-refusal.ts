import type { MountedRoute } from '../http/routes.ts'

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
export const oauthRoutes: MountedRoute[] = [
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
