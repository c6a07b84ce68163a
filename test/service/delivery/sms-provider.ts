import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Posted = { method: string; path: string; headers: IncomingHttpHeaders; body: string }

/** A local SMS provider that records messages and answers as configured. */
export const startSmsProvider = async () => {
  const posted: Posted[] = []
  const behavior = {
    respond: (response: ServerResponse): void => void response.writeHead(202).end('{}'),
  }
  let heard: (() => void) | undefined
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      posted.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() })
      heard?.()
      behavior.respond(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    behavior,
    /** Resolves with the next message that arrives. */
    heard: () => new Promise<void>((resolve) => (heard = resolve)),
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type SmsProvider = Awaited<ReturnType<typeof startSmsProvider>>
