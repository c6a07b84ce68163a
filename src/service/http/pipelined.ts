import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'

/** The most requests that a client may send on one connection before it has their responses. */
const pipelinedAtMost = 16

/**
 * Handles the next request of a connection after the client has read the response to the one before. Node would handle all
 * that arrive together, hundreds of them, and keep all responses in memory.
 */
export const inTurn = (listener: RequestListener): RequestListener => {
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
