import type { Client } from '@modelcontextprotocol/client'
import { interrupted, SvcError, unexpectedAnswer } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { hostOf, timedOut } from '../../core/network-error.ts'
import type { Transport } from '../../core/transport.ts'
import { answerIn, requireUnambiguous } from './tool-result.ts'
import { within } from '../../core/within.ts'

type Options = {
  /** Ends in `/mcp`. */
  url: string
  /** The bearer for this address, if there is one. */
  token?: string | undefined
  /** Its time-outs for headers and body must be longer than the longest call. */
  transport: Transport
  /** Name of the requester; the approver reads it. */
  name: string
  /** Ends everything in progress, including calls without a signal of their own. */
  signal?: AbortSignal
  /** Maximum total wait for a silent server, from now on. A call with its own time-out uses that. */
  mostMs?: number | undefined
}

/** Time-out for a connection, and for an answer that does not depend on a person. */
const silentMs = 30_000
/** Time for a server to accept a cancel. */
const cancelMs = 2_000

export type CallOptions = { signal?: AbortSignal | undefined; timeoutMs?: number }

/** A client of any `/mcp` of this contract, for current and legacy protocol versions. Throws SvcErrors. */
export type ToolClient = {
  list(): Promise<
    { name: string; title?: string | undefined; description?: string | undefined; inputSchema: unknown }[]
  >
  /** The structured answer of a tool; throws if the tool reports `isError`. */
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<Record<string, unknown>>
  /** Changes the name, from the next connection on. */
  introduce(name: string): void
  close(): Promise<void>
}

const refusedBearer = (url: string, sent: boolean): SvcError =>
  new SvcError(
    'forbidden',
    'unauthenticated',
    sent ? `${hostOf(url)} does not accept this bearer` : `${hostOf(url)} requires a bearer`,
    { hint: 'Set MCP_AUTH_TOKEN, or save a key that can ask: svc profile login --ask' },
  )

/** The SDK requires the signal to be absent instead of undefined. */
const withSignal = (signal: AbortSignal | undefined) => (signal ? { signal } : {})

/** A fetch for the SDK over our transport: no redirects, and our time-outs, proxy and certificates. */
const createFetch = ({ url, token, transport }: Options) => {
  const ended = new AbortController()
  let cancelling: Promise<unknown> = Promise.resolve()

  const send = async (to: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The tools do not need the stream of a session, which would never end.
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const headers = Object.fromEntries(new Headers(init.headers))
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`
    const request = { method: 'POST', url: String(to), headers, body: String(init.body) }
    const signal = init.signal ? AbortSignal.any([init.signal, ended.signal]) : ended.signal
    const { status, headers: answered, body } = await transport(request, signal)
    if (status === 401) throw refusedBearer(url, token !== undefined)
    // A server of the specification has three methods and no notifications.
    if (status >= 400 && request.body.includes('"method":"notifications/'))
      return new Response(null, { status: 202 })
    if (status >= 300 && status < 400)
      throw new SvcError(
        'failed',
        'redirected',
        `${hostOf(url)} answers with a redirect, which was not followed`,
      )
    // The SDK would wait for an answer on another stream.
    if (body === '' && request.body.includes('"method":"tools/call"'))
      throw unexpectedAnswer(`${hostOf(url)} answered a tool call with nothing`, {
        detail: 'It is not known whether the request was approved.',
      })
    requireUnambiguous(body, answered['content-type'])
    return new Response(body === '' ? null : body, { status, headers: answered })
  }

  return {
    fetch: (to: string | URL, init?: RequestInit): Promise<Response> => {
      const sent = send(to, init)
      if (String(init?.body).includes('"notifications/cancelled"')) cancelling = sent.catch(() => undefined)
      return sent
    },
    /** Resolves when the server has accepted the last cancel. */
    cancelled: (): Promise<unknown> => cancelling,
    end: (): void => ended.abort(),
  }
}

const textOf = (content: unknown): string =>
  (Array.isArray(content) ? content : [])
    .map((one: { text?: unknown }) => (typeof one.text === 'string' ? one.text : ''))
    .join('\n')

const unreadable = (
  tool: string,
  args: Record<string, unknown>,
  { url, problem }: { url: string; problem: string },
): SvcError =>
  unexpectedAnswer(`The answer of ${tool} from ${hostOf(url)} ${problem}`, {
    detail:
      tool === 'check_status'
        ? 'It is not known whether the request was approved.'
        : 'The person may have been asked. It is not known whether the request was approved.',
    hint:
      typeof args.request_id === 'string'
        ? `svc approve status ${shellQuote(args.request_id)} --mcp`
        : undefined,
  })

const asSvcError = (error: unknown, url: string): SvcError => {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof SvcError) return one
  const reason = error instanceof Error ? safeLine(error.message.slice(0, 500)) : 'no reason given'
  return new SvcError('failed', 'mcp_failed', `The tool server at ${hostOf(url)} failed: ${reason}`)
}

export const createToolClient = (options: Options): ToolClient => {
  const { url, mostMs = Infinity } = options
  let { name } = options
  const network = createFetch(options)
  const started = performance.now()
  const bounded = (ms: number): number =>
    Math.max(1_000, Math.min(ms, mostMs - (performance.now() - started)))
  /** The server does not respond before any tool is called. */
  const noAnswer = (): never => {
    throw new SvcError('unreachable', 'no_answer', `The tool server at ${hostOf(url)} does not answer`, {
      hint: 'Check its address: svc profile show --explain',
    })
  }
  const clients: Client[] = []
  let connecting: Promise<Client> | undefined

  const connect = async (): Promise<Client> => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
    const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    clients.push(client)
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: network.fetch }))
    return client
  }

  const use = async <T>(
    work: (client: Client) => Promise<T>,
    { signal, ms }: { signal: AbortSignal | undefined; ms: number },
  ): Promise<T> => {
    try {
      connecting ??= connect()
      const client = await within(connecting, { signal, ms: bounded(silentMs), late: noAnswer })
      const late = (): never => {
        throw timedOut(url, 'an answer', Math.ceil(ms / 1000))
      }
      return await within(work(client), { ms, late })
    } catch (error) {
      // The next call reconnects, because a restarted server does not know the session.
      connecting = undefined
      throw options.signal?.aborted ? interrupted() : asSvcError(error, url)
    }
  }

  return {
    list: () =>
      use(async (client) => (await client.listTools(undefined, withSignal(options.signal))).tools, {
        signal: options.signal,
        ms: bounded(silentMs),
      }),
    call: async (tool, args, { signal = options.signal, timeoutMs = bounded(silentMs) } = {}) => {
      const { isError, content, structuredContent } = await use(
        // Our own time-out comes first: its message names what svc waited for.
        (client) =>
          client.callTool(
            { name: tool, arguments: args },
            { ...withSignal(signal), timeout: timeoutMs + 1000 },
          ),
        { signal, ms: timeoutMs },
      ).finally(async () => {
        if (!signal?.aborted) return
        // The SDK sends the cancel a few steps after the abort.
        await new Promise(setImmediate)
        await within(network.cancelled(), { ms: cancelMs, late: noAnswer }).catch(() => undefined)
      })
      if (isError) {
        const message = safeLine(textOf(content).slice(0, 1000)) || `${tool} failed and gives no reason`
        throw new SvcError('refused', 'tool_error', message)
      }
      const { answer, contradictory } = answerIn(structuredContent, content)
      if (!answer) throw unreadable(tool, args, { url, problem: 'is not readable' })
      if (contradictory)
        throw unreadable(tool, args, { url, problem: 'contradicts itself, so it is not an approval' })
      return answer
    },
    introduce: (newName) => {
      name = newName
    },
    close: async () => {
      network.end()
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}
