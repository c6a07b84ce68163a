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

/** What Node's parser refuses never reaches a route, and still gets the envelope. */
export const answerParserError = (error: NodeJS.ErrnoException, socket: Socket): void => {
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
