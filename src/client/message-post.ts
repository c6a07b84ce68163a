import { AsyncLocalStorage } from 'node:async_hooks'
import { isRecord } from '../core/is-record.ts'

type Fields = Record<string, unknown>

type Options = {
  url: URL
  /** Sent with each request: the credentials of the server. */
  headers: Record<string, string>
  onMessage(message: unknown): void
  /** A message could not be sent, or was not answered. `id` is that of a request. */
  onFailure(id: unknown, reason: string): void
}

/** Posts messages to an MCP server over streamable HTTP, each as the bytes it is given. */
export type MessagePost = {
  send(bytes: Buffer, message: Fields): Promise<void>
  close(): Promise<void>
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}

const closeMs = 2_000
const versionMember = 'io.modelcontextprotocol/protocolVersion'

const isModern = ({ params }: Fields): boolean =>
  isRecord(params) && isRecord(params['_meta']) && params['_meta'][versionMember] !== undefined

/**
 * Sessions, event streams and headers are those of the SDK, which writes each message as JSON again. The bytes to send reach its
 * `fetch` beside it. It follows no redirect, so that the credentials go nowhere else.
 */
export const openMessagePost = async ({
  url,
  headers,
  onMessage,
  onFailure,
}: Options): Promise<MessagePost> => {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const exact = new AsyncLocalStorage<Buffer>()
  const transport = new StreamableHTTPClientTransport(url, {
    requestInit: { headers, redirect: 'error' },
    fetch: (to, init = {}) => {
      const bytes = exact.getStore()
      if (init.method !== 'POST') return exact.exit(() => fetch(to, init))
      if (!bytes) throw new Error('There is no message to send')
      return fetch(to, { ...init, body: new Uint8Array(bytes) })
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
    send: async (bytes, message) => {
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
      const unanswered = (reason: string): void => {
        if (isRequest && open.delete(id)) onFailure(id, reason)
      }
      try {
        await exact.run(bytes, () =>
          transport.send(message as never, {
            ...(abort && { requestSignal: abort.signal }),
            onRequestStreamEnd: () => unanswered('the connection ended without an answer'),
          }),
        )
      } catch (error) {
        if (abort?.signal.aborted) return
        if (isRequest) unanswered(reasonOf(error))
        else onFailure(undefined, reasonOf(error))
      }
    },
    close: async () => {
      const ended = transport.terminateSession().catch(() => undefined)
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, closeMs).unref())])
      await transport.close()
    },
  }
}
