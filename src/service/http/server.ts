import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { SvcError } from '../../core/errors.ts'
import { requestId } from '../../core/ids.ts'

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>

export type Tls = { cert: Buffer; key: Buffer }

// A client that sends its headers or its body drop by drop holds a socket no longer than this.
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
}
const drainTime = 10_000

const parserErrors: Record<string, [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'too_large',
    'The headers are larger than 16 KiB',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'timeout', 'The request took too long to arrive'],
}

/** What Node's parser refuses never reaches a route, and still gets the envelope. */
const answerParserError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // As Node's own answer: not into the middle of another one on the same connection.
  const { _httpMessage: underWay } = socket as Socket & { _httpMessage?: { headersSent: boolean } }
  if (!socket.writable || underWay?.headersSent) {
    socket.destroy()
    return
  }
  const [status, code, message] = parserErrors[error.code ?? ''] ?? [
    '400 Bad Request',
    'malformed',
    'This is not an HTTP request that the service understands',
  ]
  const body = JSON.stringify({ status: 'error', message, data: { code } })
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId()}`,
    'cache-control: no-store',
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const hints: Record<string, string> = {
  EADDRINUSE: 'Use another port, or let the system choose a free one: --port 0',
  EACCES: 'Use a port from 1024 up: --port 8080',
  EADDRNOTAVAIL: 'Use an address of this machine: --host 127.0.0.1',
  ENOTFOUND: 'Use an address of this machine: --host 127.0.0.1',
}

const cannotListen = (where: string, error: NodeJS.ErrnoException): SvcError => {
  const what = error.code === 'EADDRINUSE' ? 'is in use by another program' : 'cannot be used'
  return new SvcError('failed', 'cannot_listen', `${where} ${what}`, {
    detail: error.message,
    hint: hints[error.code ?? ''],
    cause: error,
  })
}

/** Listens, and answers with what `serve` makes of the port. Fails with an SvcError when it cannot listen. */
export const startServer = async (
  { port, host, tls }: { port: number; host: string; tls?: Tls },
  serve: (port: number) => Fetch,
): Promise<{ port: number; stop(): Promise<void> }> => {
  let fetch: Fetch | undefined
  const server = createAdaptorServer({
    fetch: (request, env) => fetch!(request, env),
    ...(tls
      ? { createServer: createTlsServer, serverOptions: { ...limits, ...tls } }
      : { createServer, serverOptions: limits }),
  }) as Server
  server.on('clientError', answerParserError)
  const bound = await new Promise<number>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(`${host}:${port}`, error)))
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
  return {
    port: bound,
    stop: () =>
      new Promise((resolve) => {
        // Answers under way are finished; connections that only wait are closed as they become idle.
        const idle = setInterval(() => server.closeIdleConnections(), 20)
        const giveUp = setTimeout(() => server.closeAllConnections(), drainTime)
        server.close(() => {
          clearInterval(idle)
          clearTimeout(giveUp)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}
