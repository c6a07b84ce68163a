import type { Client } from '@modelcontextprotocol/client'
import { SvcError } from '../core/errors.ts'
import { parseJson } from '../core/parse-json.ts'
import { safeLine } from '../core/safe-text.ts'
import { shellQuote } from '../core/shell-quote.ts'
import { hostOf, interrupted, timedOut } from './network-error.ts'
import type { Transport } from './transport.ts'
import { within } from './within.ts'
import { isRecord } from '../core/is-record.ts'

type Options = {
  /** Ends in `/mcp`. */
  url: string
  /** The bearer for this very address, if there is one. */
  token?: string | undefined
  /** Its time-out for headers and body must be longer than the longest call. */
  transport: Transport
  /** Who asks; the approver reads it. */
  name: string
  /** Ends whatever is under way, for calls that have no signal of their own too. */
  signal?: AbortSignal
  /** From now on; a silent server is not waited for longer. A call that names its own time has that. */
  mostMs?: number | undefined
}

/** For which a connection, and an answer that waits for nobody, are waited for. */
const silentMs = 30_000
/** In which a server takes a cancel. */
const cancelMs = 2_000

export type CallOptions = { signal?: AbortSignal | undefined; timeoutMs?: number }

/** A client of any `/mcp` of this contract, in both protocol eras. Fails with an SvcError. */
export type ToolClient = {
  list(): Promise<
    { name: string; title?: string | undefined; description?: string | undefined; inputSchema: unknown }[]
  >
  /** The structured answer of a tool; a tool that says `isError` is a failure. */
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<Record<string, unknown>>
  /** The name to give instead, from the next connection on. */
  introduce(name: string): void
  close(): Promise<void>
}

const refusedBearer = (url: string, sent: boolean): SvcError =>
  new SvcError(
    'forbidden',
    'unauthenticated',
    sent ? `${hostOf(url)} does not accept this bearer` : `${hostOf(url)} requires a bearer`,
    { hint: 'Set MCP_AUTH_TOKEN; it is not the API key' },
  )

/** The signal as the SDK takes it: absent, and never undefined. */
const only = (signal: AbortSignal | undefined) => (signal ? { signal } : {})

const isNotification = (body: string): boolean => body.includes('"method":"notifications/')

/** The SDK's way to the network, over ours: no redirect, our time-outs, proxy and certificates. */
const createFetch = ({ url, token, transport }: Options) => {
  const ended = new AbortController()
  let cancelling: Promise<unknown> = Promise.resolve()

  const send = async (to: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The stream of a session: none of the tools needs it, and it would never end.
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const headers = Object.fromEntries(new Headers(init.headers))
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`
    const request = { method: 'POST', url: String(to), headers, body: String(init.body) }
    const signal = init.signal ? AbortSignal.any([init.signal, ended.signal]) : ended.signal
    const { status, headers: answered, body } = await transport(request, signal)
    if (status === 401) throw refusedBearer(url, token !== undefined)
    // A server of the specification knows three methods, and none of them is a notification.
    if (status >= 400 && isNotification(request.body)) return new Response(null, { status: 202 })
    if (status >= 300 && status < 400)
      throw new SvcError(
        'failed',
        'redirected',
        `${hostOf(url)} answers with a redirect, which was not followed`,
      )
    return new Response(body === '' ? null : body, { status, headers: answered })
  }

  return {
    fetch: (to: string | URL, init?: RequestInit): Promise<Response> => {
      const sent = send(to, init)
      if (String(init?.body).includes('"notifications/cancelled"')) cancelling = sent.catch(() => undefined)
      return sent
    },
    /** Ends when the last cancel has been taken. */
    cancelled: (): Promise<unknown> => cancelling,
    /** Ends all requests that are under way. */
    end: (): void => ended.abort(),
  }
}

const textOf = (content: unknown): string =>
  (Array.isArray(content) ? content : [])
    .map((one: { text?: unknown }) => (typeof one.text === 'string' ? one.text : ''))
    .join('\n')

const parsed = (block: string): Record<string, unknown> | undefined => {
  const value = parseJson(block)
  return isRecord(value) ? value : undefined
}

/** Words beside an answer that says `approved` must not say otherwise: `Denied. As JSON:`. */
const deniesIt = (words: string): boolean => {
  const [first] = /\b(?:approved|denied|rejected|declined|expired|pending|unapproved)\b/i.exec(words) ?? []
  const negated = /(?:\bnot|\bnever|n['’]t)(?: yet| been)? approved\b/i.test(words)
  return negated || (first !== undefined && first.toLowerCase() !== 'approved')
}

/** Whether several values were given and differ. */
const differ = (values: readonly unknown[]): boolean =>
  new Set(values.filter((value) => value !== undefined)).size > 1

/**
 * The answer of a tool: `structuredContent`, or JSON in a block of text, as servers of older revisions answer.
 * `contradictory`: its parts do not agree, so none of them is believed.
 */
const answerIn = (
  structuredContent: unknown,
  content: unknown,
): { answer?: Record<string, unknown> | undefined; contradictory: boolean } => {
  const blocks = (Array.isArray(content) ? (content as { text?: unknown }[]) : []).flatMap(({ text }) =>
    typeof text === 'string' ? [text] : [],
  )
  const objects = [structuredContent, ...blocks.map(parsed)].filter(isRecord)
  const [answer] = objects
  const contradictory =
    differ(objects.map(({ status }) => status)) ||
    differ(objects.map(({ request_id }) => request_id)) ||
    (answer?.status === 'approved' &&
      blocks.some((block) => parsed(block)?.status === undefined && deniesIt(block)))
  return { answer, contradictory }
}

const unreadable = (
  tool: string,
  args: Record<string, unknown>,
  { url, wrong }: { url: string; wrong: string },
): SvcError =>
  new SvcError('failed', 'unexpected_answer', `The answer of ${tool} from ${hostOf(url)} ${wrong}`, {
    detail:
      tool === 'check_status'
        ? 'Whether it was approved is not known.'
        : 'The person may have been asked. Whether it was approved is not known.',
    hint:
      typeof args.request_id === 'string'
        ? `svc approve status ${shellQuote(args.request_id)} --mcp`
        : undefined,
  })

/** Before any tool was called. */
const silent = (url: string): SvcError =>
  new SvcError('unreachable', 'no_answer', `The tool server at ${hostOf(url)} does not answer`, {
    hint: 'Check its address: svc profile show --explain',
  })

/** What went wrong, as svc says it. */
const asSvcError = (error: unknown, url: string): SvcError => {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof SvcError) return one
  const said = error instanceof Error ? safeLine(error.message.slice(0, 500)) : 'no reason given'
  return new SvcError('failed', 'mcp_failed', `The tool server at ${hostOf(url)} failed: ${said}`)
}

export const createToolClient = (options: Options): ToolClient => {
  const { url, mostMs = Infinity } = options
  let { name } = options
  const network = createFetch(options)
  const started = performance.now()
  const bounded = (ms: number): number =>
    Math.max(1_000, Math.min(ms, mostMs - (performance.now() - started)))
  const noAnswer = (): SvcError => silent(url)
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
      const late = (): SvcError => timedOut(url, 'an answer', Math.ceil(ms / 1000))
      return await within(work(client), { ms, late })
    } catch (error) {
      // The next call connects anew: a server that was restarted does not know us.
      connecting = undefined
      throw options.signal?.aborted ? interrupted() : asSvcError(error, url)
    }
  }

  return {
    list: () =>
      use(async (client) => (await client.listTools(undefined, only(options.signal))).tools, {
        signal: options.signal,
        ms: bounded(silentMs),
      }),
    call: async (tool, args, { signal = options.signal, timeoutMs = bounded(silentMs) } = {}) => {
      const { isError, content, structuredContent } = await use(
        // Our own limit comes first: it says what was waited for.
        (client) =>
          client.callTool({ name: tool, arguments: args }, { ...only(signal), timeout: timeoutMs + 1000 }),
        { signal, ms: timeoutMs },
      ).finally(async () => {
        if (!signal?.aborted) return
        // The SDK sends the cancel a few steps after the abort.
        await new Promise(setImmediate)
        await within(network.cancelled(), { ms: cancelMs, late: noAnswer }).catch(() => undefined)
      })
      if (isError) {
        const said = safeLine(textOf(content).slice(0, 1000)) || `${tool} failed and gives no reason`
        throw new SvcError('refused', 'tool_error', said)
      }
      const { answer, contradictory } = answerIn(structuredContent, content)
      if (!answer) throw unreadable(tool, args, { url, wrong: 'cannot be read' })
      if (contradictory)
        throw unreadable(tool, args, { url, wrong: 'contradicts itself, so it is not an approval' })
      return answer
    },
    introduce: (given) => {
      name = given
    },
    close: async () => {
      network.end()
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}
