import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import { type Cluster, startCluster, stopServer } from './cluster.ts'
import { enrollApprover, request } from './enrolled-approver.ts'
import { call, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { type Change, createVariant } from './variant.ts'
import { openWait } from './waits.ts'

const waits = 2_000
/** Waits for one request, at different nodes. */
const waitsPerRequest = 5
const requestsPerApprover = 3
/** Every node polls once a second; a busy machine may take longer. */
const lateMs = 4_000
const terminateEveryMs = 150
const openWithinMs = 40_000

const signals = 'service/call/signals/signals.ts'

/** Sends no notifications, so that those of its decisions are lost. */
const mute: Change[] = [
  { file: 'service/storage/postgres/bus.ts', from: 'if (client) waiting.push(message)', to: 'void message' },
]

/** Wakes nobody whose notification was lost. */
const withoutFallback: Change[] = [
  {
    file: signals,
    from: 'else if (poll) timer ??= setInterval(() => void pollOnce(), every).unref()',
    to: '',
  },
  { file: signals, from: '    void pollOnce()\n', to: '' },
]

/** Ends the connections that listen, again and again, until the result is called. */
const terminateListeners = ({ query }: Cluster) => {
  let killed = 0
  const loop = { stopped: false }
  const working = (async () => {
    while (!loop.stopped) {
      const rows = await query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc bus' and datname = current_database()`,
      )
      killed += rows.length
      await pause(terminateEveryMs)
    }
  })()
  return async (): Promise<number> => {
    loop.stopped = true
    await working
    return killed
  }
}

const run = async (server: PostgresServer, count: number, programs: (readonly string[] | undefined)[]) => {
  const cluster = await startCluster(server, { count: 0 })
  try {
    for (const program of programs) cluster.nodes.push(await cluster.start(program && { program }))
    const { baseUrl } = cluster.nodes[0]!
    const { id: org } = await must(call(baseUrl, 'createOrganization', cluster.key, { name: 'Acme' }))
    const requests: string[] = []
    const ask = async (): Promise<void> => {
      const { mobile } = await enrollApprover(baseUrl, cluster.key, org)
      const input = { action: 'x', approvers: [mobile] }
      for (let n = 0; n < requestsPerApprover; n++)
        requests.push((await request(baseUrl, 'createApproval', cluster.key, input)).request_id)
    }
    while (requests.length < count / waitsPerRequest) await Promise.all(Array.from({ length: 12 }, ask))
    const open = requests.map((request_id) => ({
      request_id,
      ended: Infinity,
      waits: Array.from({ length: waitsPerRequest }, (_, n) =>
        openWait(cluster.nodes[n % cluster.nodes.length]!.baseUrl, cluster.key, request_id),
      ),
    }))
    // Until every wait is listed at its node.
    const isOpen = async (): Promise<boolean> => {
      const nodes = await request(baseUrl, 'listNodes', cluster.key, {})
      return nodes.reduce((sum, { waiting }) => sum + waiting, 0) >= requests.length * waitsPerRequest
    }
    for (const until = Date.now() + openWithinMs; !(await isOpen());) {
      if (Date.now() > until) throw new Error('The waits did not begin')
      await pause(200)
    }
    const stop = terminateListeners(cluster)
    await pause(terminateEveryMs)
    const end = async (one: (typeof open)[number], n: number): Promise<void> => {
      // Also at the node that sends no notifications.
      const node = cluster.nodes[n % cluster.nodes.length]!
      await request(node.baseUrl, 'withdrawApproval', cluster.key, { request_id: one.request_id })
      one.ended = performance.now()
    }
    for (let at = 0; at < open.length; at += 8)
      await Promise.all(open.slice(at, at + 8).map((one, n) => end(one, at + n)))
    const times: number[] = []
    const wrong: string[] = []
    for (const one of open)
      for (const { status, at, text } of await Promise.all(one.waits)) {
        times.push(at - one.ended)
        if (status !== 'expired') wrong.push(`a wait ended with ${status}: ${text}`)
        else if (at - one.ended > lateMs) wrong.push(`${Math.round(at - one.ended)} ms late`)
      }
    const killed = await stop()
    const sorted = times.toSorted((a, b) => a - b)
    return {
      count: times.length,
      wrong,
      killed,
      requests: requests.length,
      p99: sorted[Math.floor(sorted.length * 0.99)]!,
    }
  } finally {
    await cluster.stop()
  }
}

export const torture: Torture = {
  name: 'Listeners killed and notifications lost while 2,000 waits are open at three nodes',
  must: '0 lost wake-ups',
  run: async (): Promise<Result> => {
    const server = await startPostgres()
    const silent = createVariant(mute)
    const broken = createVariant([...mute, ...withoutFallback])
    try {
      const real = await run(server, waits, [undefined, undefined, silent.program])
      const control = await run(server, 60, [broken.program, broken.program, broken.program])
      return {
        count: real.count,
        failures: real.wrong.length,
        hits: {
          'listeners killed': real.killed,
          'decisions without a notification': Math.floor(real.requests / 3),
        },
        control: control.wrong.length,
        examples: [
          ...real.wrong.slice(0, 5),
          `p99 from the decision to the answer: ${real.p99.toFixed(0)} ms`,
        ],
      }
    } finally {
      silent.remove()
      broken.remove()
      await stopServer(server)
    }
  },
}
