import { randomBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTcp, type AddressInfo, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { checkPublicUrl, publicLookup } from '../../src/service/delivery/public-address.ts'
import { startService } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { call } from './requests.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 12
const clients = 4
const drainMs = 90_000

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const listen = async (server: Server): Promise<Server> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

type Faults = Record<
  'refused with 500' | 'cut' | 'taken and cut' | 'redirected' | 'endless answer' | 'stalled',
  number
>

/** A receiver that accepts most events, and fails in every way. It counts arrivals under their ids. */
const startReceiver = async (trap: number) => {
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

/** Counts the connections to an address that nobody may connect to. */
const startTrap = async () => {
  const state = { connections: 0 }
  const server = createTcp((socket) => {
    state.connections++
    socket.destroy()
  })
  await listen(server)
  return { port: portOf(server), state, close: () => server.close() }
}

const privateUrls = (port: number): string[] => [
  `https://127.0.0.1:${port}/`,
  `https://localhost:${port}/`,
  `https://[::1]:${port}/`,
  `https://[::ffff:127.0.0.1]:${port}/`,
  `https://2130706433:${port}/`,
  `https://0x7f.1:${port}/`,
  `https://0.0.0.0:${port}/`,
  `https://10.0.0.1:${port}/`,
  `https://169.254.169.254/latest/meta-data/`,
  `https://[fe80::1]/`,
  `https://[64:ff9b::7f00:1]/`,
  `http://127.0.0.1:${port}/`,
]

/** How many private addresses a service without --dev accepts, and connects to. */
const tryPrivate = async (key: string, trap: number): Promise<{ refused: number; accepted: string[] }> => {
  const folder = temporaryFolder()
  const service = await startService(folder.path, key)
  const accepted: string[] = []
  let refused = 0
  for (const url of privateUrls(trap)) {
    const { status } = await call(service.baseUrl, 'createWebhook', key, { org_id: 0, url })
    if (status === 422) refused++
    else accepted.push(`${url}: ${status}`)
  }
  await service.stop()
  folder.remove()
  return { refused, accepted }
}

/** A host name that leads to this machine: the guard at the connection. The broken variant resolves without it. */
const resolveName = async (): Promise<{ stopped: number; control: number }> => {
  checkPublicUrl('url', 'https://hooks.example.com/', false)
  const guarded = await new Promise<boolean>((resolve) =>
    publicLookup('localhost', {}, (error) =>
      resolve((error as NodeJS.ErrnoException | null)?.code === 'private_address'),
    ),
  )
  const { lookup } = await import('node:dns/promises')
  const plain = await lookup('localhost')
  return {
    stopped: guarded ? 1 : 0,
    control: plain.address === '127.0.0.1' || plain.address === '::1' ? 1 : 0,
  }
}

export const torture: Torture = {
  name: 'Webhooks with kill -9, receivers that fail in every way, and private addresses',
  must: '0 events lost or under a second id, 0 connections to private addresses',
  run: async (): Promise<Result> => {
    const folder = temporaryFolder()
    const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const trap = await startTrap()
    const receiver = await startReceiver(trap.port)
    const never = await listen(createServer(() => undefined))
    const start = () => startService(folder.path, key, ['--dev'])
    const committed = new Set<string>()
    const examples: string[] = []
    let kills = 0
    let service = await start()
    const org = (
      (await call(service.baseUrl, 'createOrganization', key, { name: 'Acme' })).body.data as { id: number }
    ).id
    await call(service.baseUrl, 'createWebhook', key, { org_id: org, url: receiver.url, types: ['policy'] })
    // A dead receiver beside it, which must delay nothing.
    await call(service.baseUrl, 'createWebhook', key, {
      org_id: org,
      url: `http://127.0.0.1:${portOf(never)}/`,
    })
    let names = 0
    const load = (): Promise<unknown> =>
      Promise.all(
        Array.from({ length: clients }, async () => {
          for (;;) {
            const input = {
              org_id: org,
              name: `F${names++}`,
              latitude: 1,
              longitude: 2,
              radius: 9,
              is_active: 1,
            }
            const reply = await call(service.baseUrl, 'createGeofence', key, input).catch(() => undefined)
            if (!reply) return
            if (reply.status === 200) committed.add(`geofence:${(reply.body.data as { id: number }).id}`)
          }
        }),
      )
    for (let round = 0; round < rounds; round++) {
      const loading = load()
      await wait(250 + Math.random() * 500)
      service.process.kill('SIGKILL')
      kills++
      await loading
      service = await start()
    }
    receiver.state.healthy = true
    const listed = async (after?: string) =>
      (
        await call(service.baseUrl, 'listEvents', key, {
          org_id: org,
          type: 'policy',
          limit: 1000,
          ...(after === undefined ? { from: '2020-01-01T00:00:00Z' } : { after }),
        })
      ).body.data as { events: { id: string; data: { subject: string } }[]; cursor: string }
    const events: { id: string; data: { subject: string } }[] = []
    for (let page = await listed(); page.events.length > 0; page = await listed(page.cursor))
      events.push(...page.events)
    const missing = (): string[] => events.filter(({ id }) => !receiver.arrived.has(id)).map(({ id }) => id)
    for (const until = Date.now() + drainMs; missing().length > 0 && Date.now() < until;) await wait(200)
    const subjects = new Set(events.map(({ data }) => data.subject))
    const wrong = [
      ...missing().map((id) => `${id} never arrived`),
      ...[...committed]
        .filter((one) => !subjects.has(one))
        .map((one) => `${one} was committed and has no event`),
      ...[...receiver.rows].filter(([, ids]) => ids.size > 1).map(([seq]) => `row ${seq} has two ids`),
    ]
    const repeated = [...receiver.arrived.values()].filter((times) => times > 1).length
    await service.stop()
    const { refused, accepted } = await tryPrivate(key, trap.port)
    const name = await resolveName()
    wrong.push(...accepted, ...(name.stopped === 1 ? [] : ['a name of this machine was not refused']))
    if (trap.state.connections > 0) wrong.push(`${trap.state.connections} connections to the trap`)
    examples.push(...wrong.slice(0, 5))
    await receiver.close()
    never.close()
    trap.close()
    folder.remove()
    // A receiver that is told of each event only once has lost those that it did not accept.
    const lostOnce = receiver.hits['refused with 500'] + receiver.hits.cut
    return {
      count: events.length + privateUrls(0).length + 1,
      failures: wrong.length,
      hits: { kills, ...receiver.hits, 'arrived again': repeated, 'private addresses refused': refused },
      control: lostOnce + name.control,
      examples,
    }
  },
}
