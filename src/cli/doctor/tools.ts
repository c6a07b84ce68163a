import { createToolClient } from '../../client/tool-client.ts'
import type { Context } from '../context/context.ts'
import { getJson, readHealth, openTransport } from '../context/open-client.ts'
import { askKeyFor } from '../approve/tool-server.ts'
import { fail, failed, note, ok, warn, type Finding } from './finding.ts'

const expected = ['check_status', 'request_approval', 'request_approval_async']

const configure = 'svc profile set mcp_url=https://host.example/mcp'

/** Checks the health and the tools of the tool server. The default address is at the service of the REST API. */
export const checkTools = async (context: Context): Promise<Finding[]> => {
  const settings = await context.settings()
  const { mcpUrl, baseUrl, cacert, bearer } = settings
  const { origin } = new URL(baseUrl.value)
  const url = mcpUrl?.value ?? `${origin}/mcp`
  try {
    const health = readHealth(await getJson(context, `${new URL(url).origin}/health`, cacert?.value))
    if (health === 'unhealthy')
      return [
        fail(
          'tool server',
          `${url} reports that it is not healthy`,
          'check the log of the service. svc serve reports this while it cannot write, for example because its disk is full',
        ),
      ]
    if (health === 'unknown' && !mcpUrl) return [note('tool server', `none known at ${origin}`, configure)]
  } catch (error) {
    if (mcpUrl) return [failed('tool server', error, configure)]
    return [note('tool server', `none at ${origin}`, configure)]
  }
  const token = (await bearer(url)) ?? (await askKeyFor(url, settings))
  const transport = openTransport(context.io, cacert?.value)
  const tools = createToolClient({ url, token, transport, name: 'svc doctor', signal: context.io.signal })
  try {
    const offered = new Set((await tools.list()).map(({ name }) => name))
    const missing = expected.filter((name) => !offered.has(name))
    return [
      missing.length === 0
        ? ok('tool server', `${url} answers and offers ${expected.join(', ')}`)
        : warn('tool server', `${url} lacks ${missing.join(', ')}`, 'svc approve tools'),
    ]
  } catch (error) {
    return [failed('tool server', error, 'MCP_AUTH_TOKEN, or svc profile login --bearer')]
  } finally {
    await tools.close()
    await transport.close()
  }
}
