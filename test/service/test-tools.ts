import { createEngineGateway } from '../../src/service/approvals/engine-gateway.ts'
import type { Service } from '../../src/service/call/service.ts'
import { createAddressReader, type GuardOptions } from '../../src/service/http/guards.ts'
import type { MountedRoute } from '../../src/service/http/routes.ts'
import { createAuthenticator } from '../../src/service/keys/authenticator.ts'
import { createMcpServer } from '../../src/service/mcp/http.ts'
import { addressesAt } from '../../src/service/mcp/oauth/addresses.ts'
import { createNoOAuthRoutes } from '../../src/service/mcp/oauth/no-oauth.ts'
import { createOAuthRoutes } from '../../src/service/mcp/oauth/routes.ts'
import '../../src/service/mcp/streamable-http.ts'

/** The tools at /mcp, which always require a bearer, and their authorization server. */
export const createTestTools = (
  service: Service,
  guards: GuardOptions,
): { routes: MountedRoute[]; close(): Promise<void> } => {
  const addresses = addressesAt(service.publicUrl)
  const addressOf = createAddressReader(guards)
  const authenticate = createAuthenticator(service)
  const { routes, close } = createMcpServer({
    nodes: service.signals,
    authenticate,
    addresses,
    rate: service.rate,
    gatewayFor: (caller, context) => createEngineGateway(service, caller, () => addressOf(context)),
    token: undefined,
    localOnly: false,
  })
  return {
    routes: [
      ...routes,
      ...(addresses
        ? createOAuthRoutes({ service, authenticate, addresses, addressOf })
        : createNoOAuthRoutes()),
    ],
    close,
  }
}
