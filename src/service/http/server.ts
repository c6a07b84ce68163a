import { X509Certificate } from 'node:crypto'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { SvcError } from '../../core/errors.ts'
import { isLoopbackName } from '../../core/loopback.ts'
import { answerParserError, redirectPlainHttp } from './plain-on-tls.ts'
import { createSlowReaders } from './slow-readers.ts'

export type HttpServer = {
  port: number
  /** The number of requests in progress. */
  requests(): number
  /** Closes each connection after its next response, so that clients connect to another node. */
  drain(): void
  /** Uses another certificate for new connections. */
  useTls(tls: Tls): void
  stop(): Promise<void>
}

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>

export type Tls = { cert: Buffer; key: Buffer }

/** When the certificate expires, milliseconds since 1970. */
export const expiryOf = ({ cert }: Tls): number => Date.parse(new X509Certificate(cert).validTo)

// Limits for a client that sends its headers or its body very slowly.
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
}
const tlsLimits = { ...limits, handshakeTimeout: 10_000 }
const checkReadersMs = 1_000
const drainTime = 10_000

const hints = (flag: string, port: number): Record<string, string> => ({
  EADDRINUSE: `Stop that program (ss -ltnp shows it), or use another port: ${flag} ${port === 8081 ? 8082 : 8081}, or ${flag} 0 for a free one`,
  EACCES: `Use a port from 1024 up: ${flag} 8080`,
  EADDRNOTAVAIL: `Use an address of this machine: ${flag.replace('port', 'host')} 127.0.0.1`,
  ENOTFOUND: `Use an address of this machine: ${flag.replace('port', 'host')} 127.0.0.1`,
})

/** A host as a URL contains it; loopback for one that means all interfaces. */
export const hostInUrl = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** The error of a port; `flag` names it. */
export const cannotListen = (
  host: string,
  port: number,
  error: NodeJS.ErrnoException,
  flag: '--port' | '--metrics-port' = '--port',
): SvcError => {
  const what = error.code === 'EADDRINUSE' ? 'is in use by another program' : 'cannot be used'
  return new SvcError('failed', 'cannot_listen', `${host}:${port} ${what}`, {
    detail: error.message,
    hint: hints(flag, port)[error.code ?? ''],
    cause: error,
  })
}

/** The most requests that a client may send on one connection before it has their responses. */
const pipelinedAtMost = 16

/**
 * Handles the next request of a connection after the client has read the response to the one before. Node would handle all
 * that arrive together, hundreds of them, and keep all responses in memory.
 */
const inTurn = (listener: RequestListener): RequestListener => {
  const waiting = new WeakMap<Socket, number>()
  return (request, response) => {
    // Node assigns the connection to one response at a time.
    if (response.socket) return listener(request, response)
    const { socket } = request
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    if (count >= pipelinedAtMost) return void socket.destroy()
    response.once('socket', () => {
      waiting.set(socket, waiting.get(socket)! - 1)
      listener(request, response)
    })
  }
}

/**
 * The header that makes browsers use https only. Not for an address with a port, because other services on that host may
 * use http, and not for loopback.
 */
const strictTransport = (publicUrl: string | undefined): string | undefined => {
  const { protocol, port, hostname } = new URL(publicUrl ?? 'http://localhost')
  return protocol === 'https:' && port === '' && !isLoopbackName(hostname) ? 'max-age=31536000' : undefined
}

/** Listens, and serves with what `serve` creates for the port. Throws an SvcError if it cannot listen. */
export const startServer = async (
  {
    port,
    host,
    tls,
    publicUrl,
  }: { port: number; host: string; tls?: Tls | undefined; publicUrl?: string | undefined },
  serve: (port: number) => Fetch,
): Promise<HttpServer> => {
  let fetch: Fetch | undefined
  const answer = getRequestListener((request, env) => fetch!(request, env))
  const strict = strictTransport(publicUrl)
  const readers = createSlowReaders()
  let requests = 0
  let draining = false
  const ended = function (this: ServerResponse): void {
    requests -= 1
    readers.forget(this)
  }
  const listener: RequestListener = inTurn((request, response) => {
    requests += 1
    response.on('close', ended)
    readers.watch(response)
    if (strict !== undefined) response.setHeader('strict-transport-security', strict)
    if (draining) response.setHeader('connection', 'close')
    void answer(request, response)
  })
  const server: Server = tls
    ? createTlsServer({ ...tlsLimits, ...tls }, listener)
    : createServer(limits, listener)
  server.on('clientError', answerParserError)
  const drop = tls ? redirectPlainHttp(server as TlsServer, { publicUrl }) : () => undefined
  const bound = await new Promise<number>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(host, port, error)))
    // The port may be the system's choice; no connection is handled before this turn of the event loop ends.
    server.listen(port, host, () => {
      const chosen = (server.address() as AddressInfo).port
      try {
        fetch = serve(chosen)
        resolve(chosen)
      } catch (error) {
        server.close()
        reject(error as Error)
      }
    })
  })
  const checking = setInterval(() => readers.check(performance.now()), checkReadersMs).unref()
  return {
    port: bound,
    requests: () => requests,
    drain: () => void (draining = true),
    useTls: (renewed) => (server as TlsServer).setSecureContext(renewed),
    stop: () =>
      new Promise((resolve) => {
        // Responses in progress are finished; other connections are closed as soon as they are idle.
        const idle = setInterval(() => server.closeIdleConnections(), 20)
        const giveUp = setTimeout(() => {
          server.closeAllConnections()
          drop('all')
        }, drainTime)
        server.close(() => {
          clearInterval(idle)
          clearInterval(checking)
          clearTimeout(giveUp)
          resolve()
        })
        server.closeIdleConnections()
        drop('silent')
      }),
  }
}
