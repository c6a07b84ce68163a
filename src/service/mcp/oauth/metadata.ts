import type { OAuthMetadata, OAuthProtectedResourceMetadata } from '@modelcontextprotocol/server'
import type { MountedRoute } from '../../http/routes.ts'
import { type Addresses, metadataPath, resourceAt } from './addresses.ts'
import { json } from './answer.ts'

/** RFC 8414. */
const serverMetadata = ({ issuer }: Addresses): OAuthMetadata => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  device_authorization_endpoint: `${issuer}/device_authorization`,
  registration_endpoint: `${issuer}/register`,
  revocation_endpoint: `${issuer}/revoke`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  scopes_supported: ['ask'],
  authorization_response_iss_parameter_supported: true,
})

/** RFC 9728. */
const resourceMetadata = (addresses: Addresses, origin: string): OAuthProtectedResourceMetadata => ({
  resource: resourceAt(addresses, origin),
  authorization_servers: [addresses.issuer],
  scopes_supported: ['ask'],
  bearer_methods_supported: ['header'],
  resource_name: 'Approvals by a person',
})

/** Where clients look after a 401. */
export const createMetadataRoutes = (addresses: Addresses): MountedRoute[] => [
  ...[metadataPath, `${metadataPath}/mcp`].map((path): MountedRoute => ({
    method: 'GET',
    path,
    isHidden: true,
    respond: ({ req }, { id }) => json(200, resourceMetadata(addresses, new URL(req.url).origin), id),
  })),
  {
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    isHidden: true,
    respond: (_, { id }) => json(200, serverMetadata(addresses), id),
  },
]
