import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { openStream, padJson } from './response-stream.ts'
import { clientName, type Introduction } from '../../tools/server/client-name.ts'
import type { ToolContext } from '../../tools/server/tool-context.ts'
import { createToolServer, disconnected } from '../../tools/server/tool-server.ts'
import { randomToken, sha256 } from '../../core/ids.ts'
import type { Caller } from '../call/caller.ts'
import type { Signals } from '../call/signals/signals.ts'

export type Nodes = Pick<Signals, 'tell' | 'hear'>

/** A POST to /mcp whose body was read and whose caller is known. */
export type ToolRequest = {
  body: unknown
  caller: Caller
  toolContext: ToolContext
  report(error: Error): void
}

/** A call under way. */
type Call = {
  /** Withdraws its request. The call still answers. */
  abandon(): void
  /** As `abandon`, but the call does not answer. */
  cancel(): void
}

/**
 * The running calls of clients that cancel with a message in another HTTP request. The key of a call contains its bearer,
 * session and id, so that a client can cancel only its own calls.
 */
const createInFlight = () => {
  const calls = new Map<string, Set<Call>>()
  let isAbandoned = false

  return {
    /** Returns how to remove it. */
    add: (key: string, call: Call): (() => void) => {
      const same = calls.get(key) ?? new Set()
      calls.set(key, same.add(call))
      if (isAbandoned) call.abandon()
      return () => {
        same.delete(call)
        if (same.size === 0) calls.delete(key)
      }
    },
    /** Two calls with one key cannot be distinguished, so neither is cancelled. */
    cancel: (key: string): void => {
      const same = [...(calls.get(key) ?? [])]
      if (same.length === 1) same[0]!.cancel()
    },
    has: (key: string): boolean => calls.has(key),
    /** Also abandons calls that begin later. */
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

const readMessages = (body: unknown): Message[] =>
  (Array.isArray(body) ? body : [body]).filter((one) => typeof one === 'object' && one !== null)

const longestLabel = 1_000

/**
 * The session id of a client of 2025-11-25 or older. The service stores no sessions: the id itself contains what the client
 * claimed, so that it is valid after a restart too. The random part distinguishes the calls of two clients.
 */
const createLabel = ({ version, client }: Introduction): string => {
  const claims = Buffer.from(JSON.stringify([version ?? null, client ?? null])).toString('base64url')
  return `${randomToken(16)}.${claims}`
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const readLabel = (label: string | undefined): Introduction => {
  const claims = label !== undefined && label.length <= longestLabel ? label.split('.')[1] : undefined
  if (claims === undefined) return {}
  try {
    const [version, client] = JSON.parse(Buffer.from(claims, 'base64url').toString()) as unknown[]
    // A client can forge a label. It is trusted no more than what `initialize` claims.
    return { version: text(version), client: clientName({ name: client }) }
  } catch {
    return {}
  }
}

/** How long a client can reconnect before its request is withdrawn. */
const reconnectMs = 3_000

/** The request as the SDK requires it: accepting both kinds of answer, also for a client that accepts only JSON. Its body was read. */
const acceptingBoth = (request: Request): Request => {
  const headers = new Headers(request.headers)
  headers.set('accept', 'application/json, text/event-stream')
  return new Request(request.url, { method: request.method, headers, signal: request.signal })
}

/**
 * Answers clients of 2025-11-25 and older over HTTP, each request with its own server object. A message in another request
 * cancels a call; the session id shows whose call it is. A lost connection does not cancel a call, but its answer can no
 * longer arrive: the request is withdrawn unless the client reconnects in time.
 */
export const createLegacyHttp = (running: Set<Promise<unknown>>, nodes: Nodes) => {
  const inFlight = createInFlight()
  nodes.hear('cancel', inFlight.cancel)
  const cancel = (key: string): void => {
    if (inFlight.has(key)) inFlight.cancel(key)
    // The call may run on another node.
    else nodes.tell('cancel', key)
  }

  const answer = async (
    request: Request,
    { body, caller, toolContext, report }: ToolRequest,
  ): Promise<Response> => {
    const messages = readMessages(body)
    const session = request.headers.get('mcp-session-id') ?? undefined
    const keyOf = (id: unknown): string =>
      sha256(JSON.stringify([caller.keyId, caller.name, session ?? '', id]))
    for (const { method, params } of messages)
      if (method === 'notifications/cancelled') cancel(keyOf(params?.requestId))

    const accept = request.headers.get('accept') ?? '*/*'
    const acceptsAll = /\*\/\*|application\/json/.test(accept) && !accept.includes('text/event-stream')
    const waits = messages.some(({ params }) => params?.name === 'request_approval')
    const streams =
      !acceptsAll && (waits || messages.some(({ params }) => params?._meta?.progressToken !== undefined))
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streams })
    const calls = new Set<() => void>()
    let endWithoutAnswer!: (response: Response) => void
    const noAnswer = new Promise<Response>((resolve) => (endWithoutAnswer = resolve))

    const begin = (id: string | number) => {
      const controller = new AbortController()
      const abandon = (): void => controller.abort()
      let cancelled = false
      const cancel = (): void => {
        cancelled = true
        // The SDK then sends no answer.
        transport.onmessage?.({
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: id },
        })
        abandon()
      }
      const remove = inFlight.add(keyOf(id), { abandon, cancel })
      calls.add(abandon)
      const onLost = (): void => void setTimeout(abandon, reconnectMs).unref()
      request.signal.addEventListener('abort', onLost, { once: true })
      const done = (): void => {
        remove()
        calls.delete(abandon)
        request.signal.removeEventListener('abort', onLost)
        if (!cancelled || calls.size > 0) return
        endWithoutAnswer(new Response(null, { status: 204 }))
        // Other answers of the same batch may still be sent.
        setImmediate(() => void transport.close())
      }
      const endReason = (): string => (cancelled ? 'the client cancelled the call' : disconnected)
      return { signal: controller.signal, endReason, done }
    }

    const label = readLabel(session)
    const version = request.headers.get('mcp-protocol-version') ?? label.version
    const introduction = { version, client: label.client }
    const server = createToolServer({ toolContext, report, introduction, begin }, running)
    await server.connect(transport)
    const answering = transport.handleRequest(acceptsAll ? acceptingBoth(request) : request, {
      parsedBody: body,
    })
    if (waits) return streams ? openStream(await answering) : padJson(Promise.race([answering, noAnswer]))
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
