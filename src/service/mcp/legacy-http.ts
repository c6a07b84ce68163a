import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { openedStream, paddedJson } from './kept-alive.ts'
import { clientName, createLabel, readLabel } from './session-label.ts'
import type { ToolRequest } from './tool-context.ts'
import { createToolServer, disconnected } from './tool-server.ts'

/** A call under way. */
type Call = {
  /** Withdraws what it asked. The call answers all the same. */
  abandon(): void
  /** As `abandon`, but the call answers nothing. */
  cancel(): void
}

/**
 * The calls under way of clients that cancel with a message of its own, in another HTTP request. A key tells whose
 * call it is: the bearer, the session and the id of the call, so that nobody cancels another's.
 */
export const createInFlight = () => {
  const calls = new Map<string, Set<Call>>()
  let isAbandoned = false

  return {
    /** Answers how to remove it again. */
    add: (key: string, call: Call): (() => void) => {
      const same = calls.get(key) ?? new Set()
      calls.set(key, same.add(call))
      if (isAbandoned) call.abandon()
      return () => {
        same.delete(call)
        if (same.size === 0) calls.delete(key)
      }
    },
    /** Two calls under one key cannot be told apart, and neither is cancelled. */
    cancel: (key: string): void => {
      const same = [...(calls.get(key) ?? [])]
      if (same.length === 1) same[0]!.cancel()
    },
    /** A call that begins later is abandoned at once. */
    abandonAll: (): void => {
      isAbandoned = true
      for (const same of calls.values()) for (const call of same) call.abandon()
    },
  }
}

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
export const createLegacyHttp = (running: Set<Promise<unknown>>) => {
  const inFlight = createInFlight()

  const answer = async (
    request: Request,
    { body, caller, toolContext, report }: ToolRequest,
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
