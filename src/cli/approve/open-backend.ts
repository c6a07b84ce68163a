import type { Backend } from '../../asking/backend.ts'
import { createRestBackend, hasApprovals } from '../../asking/rest.ts'
import type { Surroundings } from '../../asking/surroundings.ts'
import { mayComeBack } from '../../client/retry.ts'
import { SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { getJson } from '../context/open-client.ts'
import type { Settings } from '../context/settings.ts'
import { sameService } from '../program/command-line.ts'
import type { Opening } from './tool-server.ts'

/** Whether an error means that the service in use has no `/svc/v1/approvals`. */
export const lacksApprovals = async (failure: unknown, context: Context): Promise<boolean> => {
  // How a third-party service answers on these routes.
  const isAbsent = failure instanceof SvcError && (failure.exit === 'notFound' || failure.code === 'http_405')
  return isAbsent && !(await hasApprovals(await context.client()))
}

/** Explains that the tool server of the profile was not used because it belongs to another service. */
const unusedToolServer = (origin: string, { profile, otherMcpUrl }: Settings): string | undefined =>
  otherMcpUrl === undefined
    ? undefined
    : `The tool server ${otherMcpUrl.value} of profile "${profile.value}" was not used, because the profile does not set it for ${origin}.`

/** The error if the service has no approvals and no tool server may be used instead. */
export const noApprovals = (settings: Settings, through?: Opening['through']): SvcError => {
  const { origin } = new URL(settings.baseUrl.value)
  return new SvcError('failed', 'no_approvals', `${origin} has no approvals (/svc/v1/approvals)`, {
    detail: unusedToolServer(origin, settings),
    hint:
      through === 'service'
        ? 'svc serve starts a service that has them'
        : 'To use its tool server: svc profile set mcp_url=https://host.example/mcp, or SVC_MCP_URL',
  })
}

const surroundingsOf = async (context: Context, typed: string | undefined): Promise<Surroundings> => {
  const { io, globals } = context
  const { cacert, org } = await context.settings()
  return {
    now: () => io.now().getTime(),
    getJson: (url) => getJson(context, url, cacert?.value),
    organization: async () => typed ?? org?.value,
    flags: sameService(globals),
  }
}

/** Whether to use the tool server. A service that is away, or refuses the key, says so when it is asked. */
const usesTools = async (context: Context, { through }: Opening): Promise<boolean> => {
  const { mcpUrl } = await context.settings()
  if (through !== undefined || !mcpUrl) return through === 'tools'
  return !(await hasApprovals(await context.client()).catch((error: unknown) => {
    if (mayComeBack(error) || (error instanceof SvcError && error.exit === 'forbidden')) return true
    throw error
  }))
}

export const openBackend = async (context: Context, opening: Opening = {}): Promise<Backend> => {
  const surroundings = await surroundingsOf(context, opening.org)
  if (await usesTools(context, opening))
    return (await import('./tool-server.ts')).openToolBackend(context, opening, surroundings)
  const [settings, client] = await Promise.all([context.settings(), context.client()])
  const rest = createRestBackend({ client, url: settings.baseUrl.value }, surroundings)
  const explained = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      throw (await lacksApprovals(error, context)) ? noApprovals(settings, opening.through) : error
    }
  }
  return {
    ...rest,
    request: (ask) => explained(rest.request(ask)),
    status: (id) => explained(rest.status(id)),
  }
}
