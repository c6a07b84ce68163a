import { hasApprovals } from '../../client/rest-gateway.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Settings } from '../context/settings.ts'

/** What another service of the contract answers where ours has approvals. */
const isAbsent = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.exit === 'notFound' || error.code === 'http_405')

/** Whether the service in use has `/svc/v1/approvals`, asked after an error that may mean that it has not. */
export const lacksApprovals = async (failure: unknown, context: Context): Promise<boolean> => {
  if (!isAbsent(failure)) return false
  const client = await context.client()
  return !(await hasApprovals(client))
}

/** That the profile has a tool server, which belongs to another service and so was not asked. */
const passedOver = (origin: string, { profile, otherMcpUrl }: Settings): string =>
  otherMcpUrl === undefined
    ? ''
    : ` The tool server ${otherMcpUrl.value} of profile "${profile.value}" was not asked, because the profile does not name it for ${origin}.`

/** The error of a service that has no approvals, where nothing else is configured to ask through. */
export const noApprovals = (failure: SvcError, settings: Settings): SvcError => {
  const { origin } = new URL(settings.baseUrl.value)
  return failure.with({
    detail: `${origin} has no approvals (/svc/v1/approvals).${passedOver(origin, settings)}`,
    hint: 'SVC_MCP_URL, or svc profile set mcp_url=…, names its tool server; --mcp asks through that',
  })
}

/** Fails where /verify-user would be all that is left, and nobody has tested whether its answers mean anything. */
export const noFallback = (settings: Settings): SvcError => {
  const { origin } = new URL(settings.baseUrl.value)
  return new SvcError(
    'failed',
    'no_approvals',
    `${origin} has no approvals (/svc/v1/approvals), and svc does not take its answers about /verify-user for a decision`,
    {
      detail: `${
        settings.verifyFallback === 'off'
          ? 'The specification gives every 2xx answer the status success, and does not say what is answered while nobody has decided.'
          : 'verify_fallback is set, and svc has not tested this address.'
      }${passedOver(origin, settings)}`,
      hint: 'SVC_MCP_URL names its tool server; svc doctor --verify-fallback +12025550101 tests whether /verify-user can be used',
    },
  )
}
