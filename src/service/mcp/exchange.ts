import {
  classifyInboundRequest,
  createMcpHandler,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { randomToken } from '../../core/ids.ts'
import type { Caller } from '../call.ts'
import type { Desk } from './desk.ts'
import { createInFlight } from './in-flight.ts'
import { createToolServer, type Session } from './tool-server.ts'

/** One POST to /mcp, its body read and its caller known. */
export type Exchange = { body: unknown; caller: Caller; desk: Desk; report(error: Error): void }

type Message = { method?: unknown; params?: { requestId?: unknown; _meta?: { progressToken?: unknown } } }

const messagesOf = (body: unknown): Message[] =>
  (Array.isArray(body) ? body : [body]).filter((one) => typeof one === 'object' && one !== null)

const header = (request: Request, name: string): string | undefined => request.headers.get(name) ?? undefined

/** Answers MCP over HTTP in both eras, with the official SDK: stateless, a server object a request. */
export const createExchanges = () => {
  const inFlight = createInFlight()
  const running = new Set<Promise<unknown>>()

  const modern = createMcpHandler(({ authInfo }) => createToolServer(authInfo!.extra as Session, running), {
    legacy: 'reject',
  })

  /**
   * 2025-11-25 and older. A disconnect is no cancel there, so nothing of this hangs on the connection; a cancel is a
   * message, and the session that we hand out at `initialize` is a mere label to tell whose call it means.
   */
  const legacy = async (request: Request, exchange: Exchange): Promise<Response> => {
    const { body, caller, desk, report } = exchange
    const messages = messagesOf(body)
    const session = header(request, 'mcp-session-id') ?? ''
    const keyOf = (id: unknown): string => JSON.stringify([caller.keyId, caller.name, session, id])
    for (const { method, params } of messages)
      if (method === 'notifications/cancelled') inFlight.cancel(keyOf(params?.requestId))

    const server = createToolServer({ desk, report, abandoned: (id) => inFlight.add(keyOf(id)) }, running)
    const streams = messages.some(({ params }) => params?._meta?.progressToken !== undefined)
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams })
    await server.connect(transport)
    const response = await transport.handleRequest(request, { parsedBody: body })
    if (response.ok && messages.some(({ method }) => method === 'initialize'))
      response.headers.set('mcp-session-id', randomToken(16))
    return response
  }

  return {
    answer: async (request: Request, exchange: Exchange): Promise<Response> => {
      const { body, desk, report } = exchange
      const { kind } = classifyInboundRequest({
        httpMethod: request.method,
        protocolVersionHeader: header(request, 'mcp-protocol-version'),
        mcpMethodHeader: header(request, 'mcp-method'),
        mcpNameHeader: header(request, 'mcp-name'),
        body,
      })
      if (kind === 'legacy') return legacy(request, exchange)
      const extra = { desk, report } satisfies Session
      return modern.fetch(request, {
        parsedBody: body,
        authInfo: { token: '', clientId: exchange.caller.name, scopes: [], extra },
      })
    },
    /** Withdraws what is under way, and waits until that is done. */
    close: async (): Promise<void> => {
      inFlight.cancelAll()
      await modern.close()
      await Promise.allSettled(running)
    },
  }
}
