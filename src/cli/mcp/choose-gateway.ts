import type { ApprovalGateway } from '../../contract/approval-gateway.ts'
import type { Context } from '../context/context.ts'
import { resolveOrg } from '../context/organization.ts'

/** Whom the tools on standard input ask through. */
export type Chosen = { gateway: ApprovalGateway; about: string; close(): Promise<void> }

const nothing = async (): Promise<void> => undefined

/** Asks in one organization; an operator's key reaches several. */
const inOrganization = (gateway: ApprovalGateway, wanted: string, context: Context): ApprovalGateway => ({
  get boundToAction() {
    return gateway.boundToAction
  },
  request: async (ask) => gateway.request({ ...ask, org_id: (await resolveOrg(wanted, context)).id }),
  status: (request_id) => gateway.status(request_id),
  wait: (request_id, seconds, signal) => gateway.wait(request_id, seconds, signal),
  cancel: (request_id, why) => gateway.cancel(request_id, why),
})

/**
 * Whether the profile's own tool server is the way. Where there is a key, the REST API does the same, names the key to the
 * approver, and needs no bearer that nobody has.
 */
const reachesTools = async (context: Context): Promise<boolean> => {
  const { mcpUrl, baseUrl, bearer, apiKey } = await context.settings()
  if (!mcpUrl) return false
  if (mcpUrl.source !== 'profile') return true
  const { env } = context.io
  if (env['SVC_API_KEY'] || env['SVC_ASK_KEY'] || context.globals.keyFile !== undefined) return false
  return (await bearer(mcpUrl.value)) !== undefined || (await apiKey(baseUrl.value)) === undefined
}

/**
 * The tool server at SVC_MCP_URL, else the REST API where there is a key, else the tool server of the profile, else the
 * demo. Nothing is asked of the network yet. Fails with a usage error where an address or a secret cannot be.
 */
export const chooseGateway = async (
  context: Context,
  demo: () => Promise<ApprovalGateway>,
): Promise<Chosen> => {
  const settings = await context.settings()
  const { baseUrl } = settings
  if (await reachesTools(context)) {
    const [{ createMcpGateway }, { openTools }] = await Promise.all([
      import('../../client/mcp-gateway.ts'),
      import('../approve/tool-server.ts'),
    ])
    const { url, tools, close } = await openTools(context)
    return { gateway: createMcpGateway({ tools }), about: `asks through the tool server at ${url}`, close }
  }
  if ((await settings.apiKey(baseUrl.value)) === undefined)
    return {
      gateway: await demo(),
      about: 'demo that never approves: no API key and no tool server is configured',
      close: nothing,
    }
  const { openBackend } = await import('../approve/open-backend.ts')
  const { gateway: everywhere } = await openBackend(context)
  const { org } = settings
  const gateway = org ? inOrganization(everywhere, org.value, context) : everywhere
  return { gateway, about: `asks through ${baseUrl.value}`, close: nothing }
}
