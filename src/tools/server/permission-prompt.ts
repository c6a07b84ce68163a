import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'

const name = 'permission_prompt'

const tool = {
  name,
  title: 'Permission by a person',
  description:
    'Asks a person whether an agent may make a tool call. For --permission-prompt-tool, not for a model.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      tool_name: { type: 'string' },
      input: { type: 'object' },
      tool_use_id: { type: 'string' },
    },
    required: ['tool_name', 'input'],
  },
}

/** How long the end waits for withdrawals. */
const patienceMs = 5_000

/** Serves the permission prompt of Claude Code on standard input and output, until the input ends or the signal aborts. */
export const servePermissionPrompt = async (
  decide: (input: unknown, signal: AbortSignal) => Promise<object>,
  signal: AbortSignal,
): Promise<void> => {
  const over = new AbortController()
  const running = new Set<Promise<unknown>>()
  const create = (): Server => {
    const server = new Server(
      { name: 'svc', title: tool.title, version: '1.0.0' },
      { capabilities: { tools: {} } },
    )
    server.setRequestHandler('tools/list', () => ({ tools: [tool] }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      if (params.name !== name)
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool. The only tool is ${name}`)
      const deciding = decide(params.arguments, AbortSignal.any([mcpReq.signal, over.signal]))
      running.add(deciding)
      const text = JSON.stringify(await deciding.finally(() => running.delete(deciding)))
      return { content: [{ type: 'text', text }] }
    })
    return server
  }
  const transport = new StdioServerTransport()
  const closed = new Promise<void>((resolve) => {
    const close = transport.close.bind(transport)
    transport.close = () => close().finally(resolve)
  })
  const server = serveStdio(create, { transport })
  const end = (): void => void server.close().then(() => transport.close())
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  await closed
  over.abort()
  await server.close()
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, patienceMs)))
  await Promise.race([Promise.allSettled(running), patience])
  clearTimeout(timer)
}
