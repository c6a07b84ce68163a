import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

export const listen = async (server: Server): Promise<Server> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

type Faults = Record<
  'refused with 500' | 'cut' | 'taken and cut' | 'redirected' | 'endless answer' | 'stalled',
  number
>

/** A receiver that accepts most events, and fails in every way. It counts arrivals under their ids. */
export const startReceiver = async (trap: number) => {
  const arrived = new Map<string, number>()
  const rows = new Map<number, Set<string>>()
  const hits: Faults = {
    'refused with 500': 0,
    cut: 0,
    'taken and cut': 0,
    redirected: 0,
    'endless answer': 0,
    stalled: 0,
  }
  const state = { healthy: false }
  let seen = 0
  type Event = { id: string; data: { seq: number } }
  const take = ({ id, data }: Event): void => {
    arrived.set(id, (arrived.get(id) ?? 0) + 1)
    rows.set(data.seq, (rows.get(data.seq) ?? new Set()).add(id))
  }
  const faults: ((response: ServerResponse, event: Event) => void)[] = [
    (response) => {
      hits['refused with 500']++
      response.writeHead(500).end()
    },
    (response) => {
      hits.cut++
      response.socket?.destroy()
    },
    (response, event) => {
      hits['taken and cut']++
      take(event)
      response.socket?.destroy()
    },
    (response) => {
      hits.redirected++
      response.writeHead(307, { location: `http://127.0.0.1:${trap}/` }).end()
    },
    (response, event) => {
      hits['endless answer']++
      take(event)
      response.writeHead(200)
      const more = (): void => void (response.writable && response.write('x'.repeat(65_536), more))
      more()
    },
    // Until the service is killed, or its time is over.
    () => void hits.stalled++,
  ]
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const event = JSON.parse(Buffer.concat(chunks).toString()) as Event
      const fault =
        seen++ % 4 === 3 && !state.healthy ? faults[Math.floor(seen / 4) % faults.length] : undefined
      if (fault) return fault(response, event)
      take(event)
      return response.writeHead(204).end()
    })
  })
  await listen(server)
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${portOf(server)}/`, arrived, rows, hits, state, close }
}
