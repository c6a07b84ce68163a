import { hasApprovals } from '../../client/rest-asker.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context.ts'

/** What another service of the contract answers where ours has approvals. */
const isAbsent = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.exit === 'notFound' || error.code === 'http_405')

/** Whether the service in use has `/svc/v1/approvals`, asked after an error that may mean that it has not. */
export const lacksApprovals = async (failure: unknown, context: Context): Promise<boolean> => {
  if (!isAbsent(failure)) return false
  const client = await context.client()
  return !(await hasApprovals(client))
}

/** The error of a service that has no approvals, where nothing else is configured to ask through. */
export const noApprovals = (failure: SvcError, origin: string): SvcError =>
  new SvcError(failure.exit, failure.code, failure.message, {
    ...failure,
    detail: `${origin} has no approvals (/svc/v1/approvals).`,
    hint: 'SVC_MCP_URL, or svc profile set mcp_url=…, names its tool server; --mcp asks through that',
    cause: failure,
  })

/** Fails where /verify-user would be all that is left, and nobody has tested whether its answers mean anything. */
export const noFallback = (origin: string, state: 'off' | 'untested'): SvcError =>
  new SvcError(
    'failed',
    'no_approvals',
    `${origin} has no approvals (/svc/v1/approvals), and svc does not take its answers about /verify-user for a decision`,
    {
      detail:
        state === 'off'
          ? 'The specification gives every 2xx answer the status success, and does not say what is answered while nobody has decided.'
          : 'verify_fallback is set, and svc has not tested this address.',
      hint: 'SVC_MCP_URL names its tool server; svc doctor --verify-fallback +12025550101 tests whether /verify-user can be used',
    },
  )
