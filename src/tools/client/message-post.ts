import { AsyncLocalStorage } from 'node:async_hooks'
import { isRecord } from '../../core/is-record.ts'

type Fields = Record<string, unknown>

type Options = {
  url: URL
  /** Sent with each request: the credentials of the server. */
  headers: Record<string, string>
  /** Certificate authorities (PEM) to trust instead of the usual ones. */
  ca?: string | undefined
  onMessage(message: unknown): void
  /**
   * A message could not be sent, or was not answered with a message. `id` is that of a request, and `what` what the server
   * did: `did not answer: …`.
   */
  onFailure(id: unknown, what: string): void
}

/** The server answered, but not with a message. */
class OtherAnswer extends Error {}

const mostText = 300

/** What an error page says is of no use to a client. */
const withText = (text: unknown): string =>
  typeof text !== 'string' || text.trim() === '' || text.trimStart().startsWith('<')
    ? ''
    : `: ${text.trim().slice(0, mostText)}`

const whatHappened = (error: unknown): string => {
  if (error instanceof OtherAnswer) return error.message
  const { message, cause, data } = error as Error & { data?: unknown }
  if (isRecord(data) && typeof data['status'] === 'number')
    return `answered with HTTP ${data['status']}${withText(data['text'])}`
  if (isRecord(data) && 'contentType' in data)
    return `answered with ${data['contentType'] ? String(data['contentType']).slice(0, 100) : 'no content'} instead of a message`
  if (error instanceof SyntaxError || (error as Error).name.endsWith('ZodError'))
    return 'answered with something that is not a message'
  return `did not answer: ${cause instanceof Error ? cause.message : message}`
}

const openPool = async (origin: string, ca: string) => {
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js')
  return new Pool(origin, { connect: { ca } })
}

const closeMs = 2_000
const versionMember = 'io.modelcontextprotocol/protocolVersion'

const isModern = ({ params }: Fields): boolean =>
  isRecord(params) && isRecord(params['_meta']) && params['_meta'][versionMember] !== undefined

/**
 * Posts messages to an MCP server over streamable HTTP, each as the bytes it is given.
 * Sessions, event streams and headers are those of the SDK, which writes each message as JSON again. The bytes to send reach its
 * `fetch` beside it. It follows no redirect, so that the credentials go nowhere else.
 */
export const openMessagePost = async ({ url, headers, ca, onMessage, onFailure }: Options) => {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const pool = ca === undefined ? undefined : await openPool(url.origin, ca)
  // The fetch of Node takes a dispatcher, which its types do not have.
  const trusting = (pool && { dispatcher: pool }) as object | undefined
  const exact = new AsyncLocalStorage<Buffer>()
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers, redirect: 'error' },
    fetch: async (to, init = {}) => {
      const bytes = exact.getStore()
      if (init.method !== 'POST') return exact.exit(() => fetch(to, { ...init, ...trusting }))
      if (!bytes) throw new Error('There is no message to send')
      const body = new Uint8Array(bytes)
      const response = await fetch(to, { ...init, body, redirect: 'manual', ...trusting })
      if (response.status >= 300 && response.status < 400)
        throw new OtherAnswer('answered with a redirect, which svc does not follow')
      return response
    },
  })
  /** Requests without an answer. Ending one cancels it in the revision of 2026. */
  const open = new Map<unknown, AbortController | undefined>()
  let initialize: unknown
  // oxlint-disable-next-line prefer-add-event-listener -- the transport of the SDK is not an event target
  transport.onmessage = (message) => {
    if ('id' in message && !('method' in message)) open.delete(message.id)
    if (
      'result' in message &&
      message.id === initialize &&
      typeof message.result['protocolVersion'] === 'string'
    )
      transport.setProtocolVersion(message.result['protocolVersion'])
    onMessage(message)
  }
  // A failed request is reported below, and a lost stream of notifications is opened again.
  // oxlint-disable-next-line prefer-add-event-listener -- as above
  transport.onerror = () => undefined
  await transport.start()

  return {
    send: async (bytes: Buffer, message: Fields, more?: Record<string, string>): Promise<void> => {
      const { id, method, params } = message
      const isRequest = id !== undefined && method !== undefined
      if (method === 'notifications/cancelled' && isRecord(params)) {
        const abort = open.get(params['requestId'])
        open.delete(params['requestId'])
        if (abort) return abort.abort()
      }
      if (method === 'initialize') initialize = id
      const abort = isRequest && isModern(message) ? new AbortController() : undefined
      if (isRequest) open.set(id, abort)
      const unanswered = (what: string): void => {
        if (isRequest && open.delete(id)) onFailure(id, what)
      }
      try {
        await exact.run(bytes, () =>
          transport.send(message as never, {
            ...(abort && { requestSignal: abort.signal }),
            ...(more && { headers: more }),
            onRequestStreamEnd: () => unanswered('ended the connection without an answer'),
          }),
        )
      } catch (error) {
        if (abort?.signal.aborted) return
        if (isRequest) unanswered(whatHappened(error))
        else onFailure(undefined, whatHappened(error))
      }
    },
    close: async (): Promise<void> => {
      const ended = transport.terminateSession().catch(() => undefined)
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, closeMs).unref())])
      await transport.close()
      await pool?.destroy()
    },
  }
}
