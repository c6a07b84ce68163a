import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { headers: Record<string, string>; body: string }

type Answer = (
  response: ServerResponse,
  event: { id: string; type: string },
  request: IncomingMessage,
) => void

export const accept: Answer = (response) => void response.writeHead(204).end()

/** A receiver of webhooks on this machine. It keeps what it gets, and answers as `answer` says. */
export const startReceiver = async () => {
  const received: Received[] = []
  const heard: (() => void)[] = []
  const state = { answer: accept }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      received.push({ headers: request.headers as Record<string, string>, body })
      const isJson = request.headers['content-type'] === 'application/json'
      state.answer(response, JSON.parse(isJson ? body : '{}') as { id: string; type: string }, request)
      for (const listener of heard.splice(0)) listener()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/svc`,
    received,
    state,
    /** Waits until `count` requests have arrived in all. */
    until: async (count: number): Promise<void> => {
      while (received.length < count) await new Promise<void>((resolve) => heard.push(resolve))
    },
    /** The types of events, in the order of arrival. */
    types: (): string[] => received.map(({ body }) => (JSON.parse(body) as { type: string }).type),
    close: async (): Promise<void> => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
