import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { clientName } from './client-name.ts'
import { createInFlight } from './in-flight.ts'
import { openedStream, paddedJson } from './kept-alive.ts'
import { createLabel, readLabel } from './session-label.ts'
import type { Exchange } from './tool-context.ts'
import { createToolServer, disconnected } from './tool-server.ts'

type Params = {
  requestId?: unknown
  name?: unknown
  protocolVersion?: unknown
  clientInfo?: { name?: unknown; title?: unknown }
  _meta?: { progressToken?: unknown }
}
type Message = { method?: unknown; params?: Params }

const messagesOf = (body: unknown): Message[] =>
  (Array.isArray(body) ? body : [body]).filter((one) => typeof one === 'object' && one !== null)

const both = 'application/json, text/event-stream'

/** How long a connection may be lost before what it waits for is withdrawn. */
const lostMs = 3_000

/** The request as the SDK takes it: one that accepts everything accepts both kinds of answer. Its body was read. */
const acceptingBoth = (request: Request): Request => {
  const headers = new Headers(request.headers)
  headers.set('accept', both)
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}

/**
 * Answers clients of 2025-11-25 and older over HTTP, each request with a server object of its own. A call is cancelled by
 * a message in another request; the session id tells whose call it means. A lost connection is no cancel there, but
 * nobody can hear the answer any more: after a moment in which the client may come back, the prompt is withdrawn.
 */
export const createLegacyExchanges = (running: Set<Promise<unknown>>) => {
  const inFlight = createInFlight()

  const answer = async (
    request: Request,
    { body, caller, toolContext, report }: Exchange,
  ): Promise<Response> => {
    const messages = messagesOf(body)
    const session = request.headers.get('mcp-session-id') ?? undefined
    const keyOf = (id: unknown): string => JSON.stringify([caller.keyId, caller.name, session ?? '', id])
    for (const { method, params } of messages)
      if (method === 'notifications/cancelled') inFlight.cancel(keyOf(params?.requestId))

    const accept = request.headers.get('accept') ?? '*/*'
    const anything = accept.includes('*/*') && !accept.includes('text/event-stream')
    const waits = messages.some(({ params }) => params?.name === 'request_approval')
    const streams =
      !anything && (waits || messages.some(({ params }) => params?._meta?.progressToken !== undefined))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams })
    const calls = new Set<() => void>()
    let unanswered!: (response: Response) => void
    const silence = new Promise<Response>((resolve) => (unanswered = resolve))

    const begin = (id: string | number) => {
      const controller = new AbortController()
      const abandon = (): void => controller.abort()
      let cancelled = false
      const cancel = (): void => {
        cancelled = true
        // The SDK then answers nothing.
        transport.onmessage?.({
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: id },
        })
        abandon()
      }
      const remove = inFlight.add(keyOf(id), { abandon, cancel })
      calls.add(abandon)
      const lost = (): void => void setTimeout(abandon, lostMs).unref()
      request.signal.addEventListener('abort', lost, { once: true })
      const done = (): void => {
        remove()
        calls.delete(abandon)
        request.signal.removeEventListener('abort', lost)
        if (!cancelled || calls.size > 0) return
        unanswered(new Response(null, { status: 204 }))
        // Other answers of the same batch are on their way.
        setImmediate(() => void transport.close())
      }
      const whyEnded = (): string => (cancelled ? 'the client cancelled the call' : disconnected)
      return { signal: controller.signal, whyEnded, done }
    }

    const introduction = {
      get version() {
        return request.headers.get('mcp-protocol-version') ?? readLabel(session).version
      },
      get client() {
        return readLabel(session).client
      },
    }
    const server = createToolServer({ toolContext, report, introduction, begin }, running)
    await server.connect(transport)
    const answering = transport.handleRequest(anything ? acceptingBoth(request) : request, {
      parsedBody: body,
    })
    if (waits) return streams ? openedStream(await answering) : paddedJson(Promise.race([answering, silence]))
    const response = await answering
    const hello = messages.find(({ method }) => method === 'initialize')
    if (hello && response.ok) {
      const agreed = server.getNegotiatedProtocolVersion()
      response.headers.set(
        'mcp-session-id',
        createLabel({ version: agreed, client: clientName(hello.params?.clientInfo) }),
      )
    }
    return response
  }

  return { answer, abandonAll: inFlight.abandonAll }
}
