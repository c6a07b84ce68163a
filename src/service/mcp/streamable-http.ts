import { classifyInboundRequest, createMcpHandler } from '@modelcontextprotocol/server'
import { openStream } from './response-stream.ts'
import { createLegacyHttp, type Nodes, type ToolRequest } from './legacy-http.ts'
import { createToolServer, type Session } from '../../tools/server/tool-server.ts'

/** A header as the option `key` of the SDK; empty if the request does not have it. */
const header = <K extends string>(key: K, request: Request, name: string): { [N in K]?: string } => {
  const value = request.headers.get(name)
  return value === null ? {} : ({ [key]: value } as { [N in K]?: string })
}

const isWait = (body: unknown): boolean =>
  (body as { params?: { name?: unknown } } | null)?.params?.name === 'request_approval'

/** Answers both generations of MCP over HTTP with the official SDK, stateless, with one server object for each request. */
export const createStreamableHttp = (nodes: Nodes) => {
  const running = new Set<Promise<unknown>>()
  const legacy = createLegacyHttp(running, nodes)
  const modern = (responseMode: 'auto' | 'sse') =>
    createMcpHandler(({ authInfo }) => createToolServer(authInfo!.extra as Session, running), {
      legacy: 'reject',
      responseMode,
    })
  const quick = modern('auto')
  const waits = modern('sse')

  return {
    answer: async (request: Request, toolRequest: ToolRequest): Promise<Response> => {
      const { body, caller, toolContext, report } = toolRequest
      const { kind } = classifyInboundRequest({
        httpMethod: request.method,
        ...header('protocolVersionHeader', request, 'mcp-protocol-version'),
        ...header('mcpMethodHeader', request, 'mcp-method'),
        ...header('mcpNameHeader', request, 'mcp-name'),
        body,
      })
      if (kind === 'legacy') return legacy.answer(request, toolRequest)
      const extra = { toolContext, report } satisfies Session
      const options = { parsedBody: body, authInfo: { token: '', clientId: caller.name, scopes: [], extra } }
      return isWait(body) ? openStream(await waits.fetch(request, options)) : quick.fetch(request, options)
    },
    /** Withdraws the pending requests, and waits until that is done. */
    close: async (): Promise<void> => {
      legacy.abandonAll()
      await Promise.all([quick.close(), waits.close()])
      await Promise.allSettled(running)
    },
  }
}
