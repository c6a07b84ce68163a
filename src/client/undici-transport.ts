import type { Dispatcher } from 'undici'
import Pool from 'undici/lib/dispatcher/pool.js'
import type { Env } from '../core/env.ts'
import { interrupted, type SvcError, unexpectedAnswer } from '../core/errors.ts'
import { safeLine } from '../core/safe-text.ts'
import { readTraceParent } from '../core/traceparent.ts'
import { hostOf, networkError, timedOut } from '../core/network-error.ts'
import { proxyFor } from './proxy.ts'
import type { HttpRequest, HttpResponse, Transport } from '../core/transport.ts'
import { isUtf8 } from 'node:buffer'

type Options = {
  /** Time-outs in milliseconds: to connect, until the headers arrive, and from then until the end of the body. */
  timeoutMs?: { connect?: number; headers?: number; body?: number } | undefined
  /** Certificate authorities (PEM) to trust instead of the usual ones. */
  ca?: string | undefined
  /** For HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  env: Env
  /** The W3C trace that the requests belong to; ignored if it is not valid. */
  traceparent?: string | undefined
  /** Maximum number of connections to one origin. */
  connections?: number
  /** Called after each request was sent, while the server answers. */
  onSent?: (() => void) | undefined
}

type Route = { dispatcher: Dispatcher; proxy?: string }

const openRoute = async (origin: string, options: Options, connectMs: number): Promise<Route> => {
  const tls = { timeout: connectMs, ...(options.ca === undefined ? {} : { ca: options.ca }) }
  const shared = {
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: mostBytes,
    allowH2: false,
    connections: options.connections ?? null,
  }
  const proxy = proxyFor(origin, options.env)
  if (!proxy) return { dispatcher: new Pool(origin, { ...shared, connect: tls }) }
  const { openProxyAgent } = await import('./proxy-agent.ts')
  return { dispatcher: openProxyAgent(proxy, tls, shared), proxy }
}

const textHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      safeLine(Array.isArray(value) ? value.join(', ') : (value ?? '')),
    ]),
  )

/** Extra time for an answer that the request asked to delay. */
const waitSlackMs = 10_000

/** A transport over undici with keep-alive. It follows no redirect and repeats nothing. `close` ends open connections. */
export const createTransport = (options: Options): Transport & { close(): Promise<void> } => {
  const { connect = 10_000, headers: headersMs = 60_000, body: bodyMs = 60_000 } = options.timeoutMs ?? {}
  const routes = new Map<string, Promise<Route>>()
  const { traceparent } = options
  const trace: Record<string, string> =
    traceparent !== undefined && readTraceParent(traceparent) ? { traceparent } : {}

  const exchange = (
    { dispatcher, proxy }: Route,
    request: HttpRequest,
    signal?: AbortSignal,
  ): Promise<{ status: number; headers: Record<string, string>; body: Buffer }> =>
    new Promise((resolve, reject) => {
      const { origin, pathname, search } = new URL(request.url)
      const { waitMs } = request
      const answerMs = waitMs === undefined ? headersMs : Math.max(headersMs, waitMs + waitSlackMs)
      let controller: Dispatcher.DispatchController | undefined
      let over: SvcError | undefined
      let timer: NodeJS.Timeout | undefined
      const fail = (error: SvcError): void => {
        over ??= error
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        reject(over)
        if (controller && !controller.aborted) controller.abort(over)
      }
      const abort = (): void => fail(interrupted())
      const within = (ms: number, what: string): void => {
        clearTimeout(timer)
        timer = setTimeout(() => fail(timedOut(request.url, what, ms / 1000)), ms)
      }
      signal?.addEventListener('abort', abort, { once: true })

      const answer = { status: 0, headers: {} as Record<string, string> }
      const chunks: Buffer[] = []
      dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method: request.method as Dispatcher.HttpMethod,
          headers: { 'accept-encoding': 'identity', ...trace, ...request.headers },
          body: request.body ?? null,
        },
        {
          onRequestStart(started) {
            controller = started
            if (over) return started.abort(over)
            within(answerMs, 'an answer')
            // undici writes the request next, in this turn of the loop.
            if (options.onSent) setImmediate(options.onSent)
          },
          onResponseStart(_, status, headers) {
            Object.assign(answer, { status, headers: textHeaders(headers) })
            request.onStatus?.(status)
            within(bodyMs, 'the end of the answer')
          },
          onResponseData(_, chunk) {
            chunks.push(chunk)
          },
          onResponseEnd() {
            clearTimeout(timer)
            signal?.removeEventListener('abort', abort)
            // undici frees the connection one turn of the loop later; an earlier request would open another one.
            setImmediate(() => setImmediate(resolve, { ...answer, body: Buffer.concat(chunks) }))
          },
          onResponseError(_, error) {
            const late = !proxy && (error as { code?: string }).code === 'UND_ERR_CONNECT_TIMEOUT'
            fail(
              late
                ? timedOut(request.url, 'a connection', connect / 1000)
                : networkError(error, request.url, proxy),
            )
          },
        },
      )
    })

  const send = async (request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse> => {
    if (signal?.aborted) throw interrupted()
    const { origin } = new URL(request.url)
    const route = routes.get(origin) ?? openRoute(origin, options, connect)
    routes.set(origin, route)
    const { status, headers, body } = await exchange(await route, request, signal)
    return { status, headers, body: decodeBody(body, headers['content-encoding'], hostOf(request.url)) }
  }
  const close = async (): Promise<void> => {
    const open = await Promise.allSettled(routes.values())
    routes.clear()
    await Promise.all(open.map((route) => route.status === 'fulfilled' && route.value.dispatcher.destroy()))
  }
  return Object.assign(send, { close })
}

export const mostBytes = 64 * 1024 * 1024

const unexpected = (message: string): SvcError =>
  unexpectedAnswer(message, { hint: 'Check the address: svc profile show --explain' })

/** The text of a body. Throws if it is compressed, which svc does not request, or not UTF-8. */
export const decodeBody = (body: Buffer, encoding: string | undefined, host: string): string => {
  const way = (encoding ?? '').trim().toLowerCase()
  if (way !== '' && way !== 'identity' && body.length > 0)
    throw unexpected(
      `The answer from ${host} is encoded as ${safeLine(way).slice(0, 40)}, which svc does not support`,
    )
  if (!isUtf8(body)) throw unexpected(`The answer from ${host} is not UTF-8 text`)
  return body.toString('utf8').replace(/^\uFEFF/, '')
}
