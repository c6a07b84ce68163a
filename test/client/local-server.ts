import type { createServer as createTcp, AddressInfo, Socket } from 'node:net'
import type { Server } from 'node:http'
import { onTestFinished } from 'vitest'
import { createTransport } from '../../src/client/undici-transport.ts'

/** Listens on a free port until the test ends. */
export const listening = async (server: Server | ReturnType<typeof createTcp>): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => void sockets.add(socket))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

/** A transport without a client, closed when the test ends. */
export const open = (options: Parameters<typeof createTransport>[0]) => {
  const transport = createTransport(options)
  onTestFinished(() => transport.close())
  return (url: string, signal?: AbortSignal) => transport({ method: 'GET', url, headers: {} }, signal)
}
