import { Hono } from 'hono'
import type { ApprovalGateway } from '../../../src/contract/approval-gateway.ts'
import type { Caller } from '../../../src/service/call/caller.ts'
import type { Rate } from '../../../src/service/call/service.ts'
import { createMcpServer } from '../../../src/service/mcp/http.ts'
import '../../../src/service/mcp/streamable-http.ts'
import { createSignals, type Signals } from '../../../src/service/call/signals/signals.ts'

// The route loads `streamable-http.ts` a second after its start. It is loaded here, so that no test file ends meanwhile.

type Options = {
  gatewayFor: (caller: Caller) => ApprovalGateway
  token?: string
  localOnly?: boolean
  keys?: Record<string, Caller>
  rate?: Rate['count']
  /** Messages to and from other nodes; there are none when left out. */
  nodes?: Pick<Signals, 'tell' | 'hear'>
}

type Socket = { remoteAddress?: string | undefined; localPort?: number }
type Send = { headers?: Record<string, string>; signal?: AbortSignal; socket?: Socket | undefined }

export const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** What a client of 2026-07-28 sends in every request. */
export const modern = (method: string, params: Record<string, unknown> = {}, id: unknown = 1) => ({
  body: {
    jsonrpc: '2.0',
    id,
    method,
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'robot', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
        ...(params._meta as object | undefined),
      },
    },
  },
  headers: {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  },
})

/** The handshake of an older client. */
export const initialize = (protocolVersion: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'robot', version: '1' } },
})

export const call = (name: string, args: unknown, more: Record<string, unknown> = {}, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...more },
})

/** The last message of an answer, plain or a stream. */
// oxlint-disable-next-line no-explicit-any -- tests read what the service answers
export const messageOf = async (response: Response): Promise<any> => {
  const text = await response.text()
  if (response.headers.get('content-type') !== 'text/event-stream') return JSON.parse(text)
  return JSON.parse(
    text
      .match(/^data: .*$/gm)!
      .at(-1)!
      .slice('data: '.length),
  )
}

/** Only the route of the tools, in process. */
export const startTools = ({
  gatewayFor,
  token,
  localOnly = true,
  keys = {},
  rate = () => ({}),
  nodes = createSignals({ publish: () => undefined, subscribe: () => undefined }),
}: Options) => {
  const trace: { id: string; key?: string; error?: string } = { id: 'req_1' }
  const server = createMcpServer({
    nodes,
    authenticate: async (key) =>
      key !== undefined && keys[key] ? { ...keys[key], orgSlug: null } : undefined,
    gatewayFor,
    rate,
    token,
    localOnly,
  })
  const app = new Hono()
  for (const { method, path, respond } of server.routes)
    app.on(method, path, (context) => respond(context, trace))
  // A test then fails with the error itself, not with the answer of Hono.
  app.onError((error) => {
    throw error
  })

  const send = async (
    body: unknown,
    { headers: more = {}, signal, socket = { remoteAddress: '127.0.0.1', localPort: 8080 } }: Send = {},
  ): Promise<Response> =>
    app.request(
      'http://127.0.0.1:8080/mcp',
      {
        method: 'POST',
        headers: Object.entries({ host: '127.0.0.1:8080', ...headers, ...more }).filter(
          ([, value]) => value !== undefined,
        ),
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal: signal ?? null,
      },
      { incoming: { socket } },
    )
  return {
    trace,
    send,
    // oxlint-disable-next-line no-explicit-any -- tests read what the service answers
    ask: async (body: unknown, options?: Send): Promise<any> => messageOf(await send(body, options)),
    close: server.close,
  }
}
