import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { createServer as createTcp } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { publicLookup } from '../../src/service/delivery/public-address.ts'
import { bin, startServe, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { call } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { type Change, createVariant } from './variant.ts'
import { listen, portOf, startReceiver } from './webhook-receiver.ts'

const clients = 4

/** A service that runs this program. */
const startService = (folder: string, key: string, program: readonly string[], args: string[] = []) =>
  startServe(folder, key, { args: ['--data-dir', folder, ...args], program })

/** The broken variant of the delivery takes an event as delivered, whatever the receiver answered. */
const takesAnyAnswer: Change[] = [
  {
    file: 'service/events/webhook-adapter.ts',
    from: 'status >= 200 && status < 300',
    to: 'status > 0',
  },
]

/** The broken variant of the guard accepts every address. */
const withoutGuard: Change[] = [
  {
    file: 'service/delivery/public-address.ts',
    from: '  if (isOwn) return\n',
    to: '  return\n',
  },
]

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

/** How many private addresses a service without --dev refuses, and what it did about the others. */
const tryPrivate = async (
  key: string,
  program: readonly string[],
): Promise<{ refused: number; wrong: string[] }> => {
  const folder = temporaryFolder()
  const trap = await startTrap()
  const service = await startService(folder.path, key, program)
  const wrong: string[] = []
  let refused = 0
  for (const url of privateUrls(trap.port)) {
    const { status } = await call(service.baseUrl, 'createWebhook', key, { org_id: 0, url })
    if (status === 422) refused++
    else wrong.push(`${url}: ${status}`)
  }
  // A webhook that was accepted is told of its own creation.
  for (const until = Date.now() + 10_000; wrong.length > 0 && Date.now() < until;) {
    if (trap.state.connections > 0) break
    await wait(50)
  }
  await service.stop()
  if (trap.state.connections > 0) wrong.push(`${trap.state.connections} connections to a private address`)
  trap.close()
  folder.remove()
  return { refused, wrong }
}

/** Whether the guard at the connection refuses a host name that leads to this machine. */
const refusesName = (): Promise<boolean> =>
  new Promise((resolve) =>
    publicLookup()('localhost', {}, (error) =>
      resolve((error as NodeJS.ErrnoException | null)?.code === 'private_address'),
    ),
  )

type Run = { rounds: number; drainMs: number; program: readonly string[] }

/** Kills the service in each round of changes, and compares what arrived with what was committed. */
const deliverAll = async (key: string, { rounds, drainMs, program }: Run) => {
  const folder = temporaryFolder()
  const trap = await startTrap()
  const receiver = await startReceiver(trap.port)
  const never = await listen(createServer(() => undefined))
  const start = (): Promise<Service> => startService(folder.path, key, program, ['--dev'])
  const committed = new Set<string>()
  let service = await start()
  const { id: org } = (await call(service.baseUrl, 'createOrganization', key, { name: 'Acme' })).body
    .data as {
    id: number
  }
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
          const place = { name: `F${names++}`, latitude: 1, longitude: 2, radius: 9, is_active: 1 }
          const input = { org_id: org, ...place }
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
    await loading
    service = await start()
  }
  receiver.state.healthy = true
  type Page = { events: { id: string; data: { subject: string } }[]; cursor: string }
  const listed = async (place: object): Promise<Page> =>
    (await call(service.baseUrl, 'listEvents', key, { org_id: org, type: 'policy', limit: 1000, ...place }))
      .body.data as Page
  const events: Page['events'] = []
  for (
    let page = await listed({ from: '2020-01-01T00:00:00Z' });
    page.events.length > 0;
    page = await listed({ after: page.cursor })
  )
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
  const again = [...receiver.arrived.values()].filter((times) => times > 1).length
  await service.stop()
  if (trap.state.connections > 0) wrong.push(`${trap.state.connections} connections to the trap`)
  await receiver.close()
  never.close()
  trap.close()
  folder.remove()
  return { count: events.length, wrong, hits: { kills: rounds, ...receiver.hits, 'arrived again': again } }
}

export const torture: Torture = {
  name: 'Webhooks with kill -9, receivers that fail in every way, and private addresses',
  must: '0 events lost or under a second id, 0 connections to private addresses',
  run: async (): Promise<Result> => {
    const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
    const real = await deliverAll(key, { rounds: 12, drainMs: 90_000, program: [bin] })
    const { refused, wrong } = await tryPrivate(key, [bin])
    const all = [
      ...real.wrong,
      ...wrong,
      ...((await refusesName()) ? [] : ['the name localhost was resolved']),
    ]
    const careless = createVariant(takesAnyAnswer)
    const open = createVariant(withoutGuard)
    try {
      const lost = await deliverAll(key, { rounds: 4, drainMs: 10_000, program: careless.program })
      const reached = await tryPrivate(key, open.program)
      const controls = [lost.wrong.length, reached.wrong.length]
      return {
        count: real.count + privateUrls(0).length + 1,
        failures: all.length,
        hits: { ...real.hits, 'private addresses refused': refused },
        // Each of the two variants has to fail.
        control: controls.includes(0) ? 0 : controls.reduce((sum, one) => sum + one),
        examples: all.slice(0, 5),
      }
    } finally {
      careless.remove()
      open.remove()
    }
  },
}
