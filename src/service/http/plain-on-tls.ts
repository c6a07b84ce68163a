import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import { requestId } from '../../core/ids.ts'

const parserErrors: Record<string, [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'too_large',
    'The headers are larger than 16 KiB',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'timeout', 'The request took too long to arrive'],
}

/** A request that Node's parser rejects never reaches a route, but gets the envelope too. */
export const answerParserError = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // Like Node's own response: never into the middle of another one on the same connection.
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: { headersSent: boolean } }
  if (!socket.writable || current?.headersSent) {
    socket.destroy()
    return
  }
  const [status, code, message] = parserErrors[error.code ?? ''] ?? [
    '400 Bad Request',
    'malformed',
    'This is not a valid HTTP request',
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

const hostHeader = /^(?:[\w.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])(?::\d{1,5})?$/
const body = JSON.stringify({ status: 'error', message: 'Use https', data: { code: 'plain_http' } })

/**
 * The same URL over https, at the public origin if there is one, because the Host header is not trustworthy. Undefined if
 * the request does not name a URL.
 */
const targetOf = (
  { url = '', headers: { host = '' } }: IncomingMessage,
  origin: string | undefined,
): string | undefined => {
  const text = `${origin ?? `https://${host}`}${url}`
  return hostHeader.test(host) && url.startsWith('/') && URL.canParse(text) ? new URL(text).href : undefined
}

/** Does not read the body: nothing that was sent in plain text is used. */
const redirect = (origin: string | undefined, request: IncomingMessage, response: ServerResponse): void => {
  const location = targetOf(request, origin)
  response.writeHead(location === undefined ? 400 : 301, {
    ...(location !== undefined && { location }),
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': requestId(),
    connection: 'close',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** HTTP begins with the letter of a method, a TLS record with another byte. */
const isPlain = (first: number | undefined): boolean => first !== undefined && first >= 0x41 && first <= 0x5a

const drop = (socket: Socket): void => void socket.destroy()

/**
 * Responds with 301 to plain HTTP on the port of a TLS server, which would otherwise close the connection. `deadline`:
 * milliseconds until the first byte, and for a whole plain request. Returns a function that closes the connections that have
 * sent nothing, or all.
 */
export const redirectPlainHttp = (
  server: TlsServer,
  { publicUrl, deadline = 10_000 }: { publicUrl?: string | undefined; deadline?: number } = {},
): ((which: 'silent' | 'all') => void) => {
  const [takeTls] = server.listeners('connection') as ((this: TlsServer, socket: Socket) => void)[]
  const origin = publicUrl?.startsWith('https:') ? new URL(publicUrl).origin : undefined
  const answer = redirect.bind(undefined, origin)
  const plain = createServer(answer).on('checkContinue', answer).on('clientError', answerParserError)
  const silent = new Set<Socket>()
  const open = new Set<Socket>()

  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const timer = setTimeout(drop, deadline, socket)
    open.add(socket)
    silent.add(socket)
    socket.on('error', () => drop(socket))
    socket.once('close', () => {
      clearTimeout(timer)
      silent.delete(socket)
      open.delete(socket)
    })
    socket.once('data', (first: Buffer) => {
      silent.delete(socket)
      socket.pause()
      socket.unshift(first)
      if (isPlain(first[0])) {
        plain.emit('connection', socket)
        process.nextTick(() => socket.resume())
      } else {
        clearTimeout(timer)
        takeTls!.call(server, socket)
      }
    })
  })
  return (which) => {
    for (const socket of which === 'silent' ? silent : open) drop(socket)
  }
}
