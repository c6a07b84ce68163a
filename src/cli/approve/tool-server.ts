import type { Backend } from '../../asking/backend.ts'
import type { Surroundings } from '../../asking/surroundings.ts'
import { createToolBackend } from '../../asking/tool-server.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import type { Ask } from '../../contract/approval-gateway.ts'
import { createToolClient, type ToolClient } from '../../tools/client/tool-client.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { maskPhone } from '../terminal/mask.ts'
import { openDiskCache } from '../context/disk-cache.ts'
import { openTransport } from '../context/open-client.ts'
import type { Settings } from '../context/settings.ts'

export type Opening = {
  /**
   * `tools`: the tool server instead of the REST API. `service`: only the REST API. Otherwise the REST API, or the configured
   * tool server if the service has no approvals.
   */
  through?: 'tools' | 'service' | undefined
  /** The organization as typed. */
  org?: string | undefined
  requester?: string | undefined
  /** The request must outlive this run: a call of a tool that waits could not be resumed. */
  open?: boolean
  /** The longest time to wait for a silent tool server, in seconds. */
  mostSeconds?: number | undefined
}

/** Longer than any tool waits for a person. */
const timeoutMs = 3_700_000

/** The address of the tool server. Throws if none is configured. */
export const toolServer = ({ mcpUrl, otherMcpUrl }: Settings): string => {
  const url = mcpUrl ?? otherMcpUrl
  if (url) return url.value
  throw usageError(
    'No tool server is configured',
    'SVC_MCP_URL=https://host.example/mcp, or svc profile set mcp_url=…',
  )
}

/** The ask key, if the tool server is part of the service that the key was saved for. */
export const askKeyFor = async (url: string, { askKey, baseUrl }: Settings): Promise<string | undefined> =>
  new URL(url).origin === new URL(baseUrl.value).origin ? askKey?.(url) : undefined

/**
 * Opens the tools at SVC_MCP_URL or the profile's mcp_url, with the bearer for that address or the ask key, and never with the
 * API key.
 */
export const openTools = async (
  context: Context,
  { requester, mostSeconds }: Pick<Opening, 'requester' | 'mostSeconds'> = {},
): Promise<{ url: string; tools: ToolClient; close(): Promise<void> }> => {
  const { io } = context
  const settings = await context.settings()
  const { cacert, requestFrom, bearer } = settings
  const url = toolServer(settings)
  const transport = openTransport(io, cacert?.value, { timeoutMs: { headers: timeoutMs, body: timeoutMs } })
  const token = (await bearer(url)) ?? (await askKeyFor(url, settings))
  const tools = createToolClient({
    url,
    token,
    transport,
    name: requester ?? requestFrom?.value ?? 'svc',
    signal: io.signal,
    mostMs: mostSeconds === undefined ? undefined : mostSeconds * 1000,
  })
  const close = async (): Promise<void> => {
    await tools.close()
    await transport.close()
  }
  return { url, tools, close }
}

/** Runs `work` with the tools and closes the connection afterwards. */
export const withTools = async (
  context: Context,
  work: (opened: { url: string; tools: ToolClient }) => Promise<void>,
): Promise<void> => {
  const { close, ...opened } = await openTools(context)
  try {
    await work(opened)
  } finally {
    await close()
  }
}

const most = 100

/** What this machine remembers of a request that it made through a tool server. The phone number is masked. */
type Remembered = Pick<
  ApprovalRecord,
  'request_id' | 'action' | 'approver_mobile' | 'requested_at' | 'expires_at'
>

/** The requests of a profile to one tool server, newest first. A tool server says little about them later. */
export const openRemembered = async (context: Context, url: string) => {
  const { profile } = await context.settings()
  const cache = openDiskCache<Remembered[]>(context.io, ['requests', profile.value, url])
  const all = (): Remembered[] => cache.read()?.value ?? []
  return {
    find: (request_id: string): Remembered | undefined => all().find((one) => one.request_id === request_id),
    add: ({ request_id, action, approver_mobile, requested_at, expires_at }: ApprovalRecord): void => {
      const fresh = {
        request_id,
        action,
        approver_mobile: maskPhone(approver_mobile),
        requested_at,
        expires_at,
      }
      const others = all().filter((one) => one.request_id !== request_id)
      cache.keep([fresh, ...others].slice(0, most))
    },
  }
}

/** Asks through the three tools of the tool server at SVC_MCP_URL. */
export const openToolBackend = async (
  context: Context,
  opening: Opening,
  surroundings: Surroundings,
): Promise<Backend> => {
  const { url, tools, close } = await openTools(context, opening)
  const remembered = await openRemembered(context, url)
  const backend = createToolBackend({ url, tools, close, recall: remembered.find }, surroundings)
  // A call that waits for the decision: whether the server accepts it is known only at its end.
  if (!opening.open) return backend
  const { request } = backend
  return Object.assign(backend, {
    request: async (ask: Ask): Promise<ApprovalRecord> => {
      const record = await request({ ...ask, lifetime_s: undefined })
      remembered.add(record)
      return record
    },
  })
}
