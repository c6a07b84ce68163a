import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { serveOnStdio } from './stdio.ts'

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

/** Serves the permission prompt of Claude Code on standard input and output, until the input ends or the signal aborts. */
export const servePermissionPrompt = (
  decide: (input: unknown, signal: AbortSignal) => Promise<object>,
  signal: AbortSignal,
): Promise<void> => {
  const over = new AbortController()
  const create = (running: Set<Promise<unknown>>): Server => {
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
  return serveOnStdio({ create, signal, stop: () => over.abort() })
}
