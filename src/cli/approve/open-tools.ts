import { createToolClient, type ToolClient } from '../../client/tool-client.ts'
import { createTransport } from '../../client/undici-transport.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { readCa } from '../context/open-client.ts'
import type { Settings } from '../context/settings.ts'
import type { Wanted } from './backend.ts'

/** Longer than any tool waits for a person. */
const timeoutMs = 3_700_000

/** The address of the tool server; fails where none is configured. */
export const toolServer = ({ mcpUrl, otherMcpUrl }: Settings): string => {
  const url = mcpUrl ?? otherMcpUrl
  if (url) return url.value
  throw usageError(
    'No tool server is configured',
    'SVC_MCP_URL=https://host.example/mcp, or svc profile set mcp_url=…',
  )
}

/** The key that asks, where the tool server is part of the service that it was saved for. */
export const askKeyFor = async (url: string, { askKey, baseUrl }: Settings): Promise<string | undefined> =>
  new URL(url).origin === new URL(baseUrl.value).origin ? askKey?.(url) : undefined

/**
 * The tools at SVC_MCP_URL or the profile's mcp_url, with the bearer for that address, else with the key that asks, and never
 * with the API key.
 */
export const openTools = async (
  context: Context,
  { requester, mostSeconds }: Pick<Wanted, 'requester' | 'mostSeconds'> = {},
): Promise<{ url: string; tools: ToolClient; close(): Promise<void> }> => {
  const { io } = context
  const settings = await context.settings()
  const { cacert, requestFrom, bearer } = settings
  const url = toolServer(settings)
  const transport = createTransport({
    env: io.env,
    ca: cacert && readCa(cacert.value),
    timeoutMs: { headers: timeoutMs, body: timeoutMs },
  })
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
