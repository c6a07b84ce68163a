import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { planRequest } from '../../src/client/request.ts'
import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import { type Cluster, startCluster, stopServer } from './cluster.ts'
import { enrollMobiles, request } from './enrolled-approver.ts'
import { call, must, operationOf } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { createVariant } from './variant.ts'

const waiters = 10_000
const waitersOfControl = 500
const waitsPerRequest = 25
/** As many as one key can have at one approver. */
const requestsPerApprover = 3
const requestsAtOnce = 8
const waitS = 60
const p99AtMostMs = 100
const kibEachAtMost = 30

/** The memory of a process, in KiB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1])

/** When a wait ended, and with which status of HTTP. */
type Ended = { at: number; status: number | undefined }

const openWaits = async (cluster: Cluster, requests: readonly string[]) => {
  const agent = new Agent({ maxSockets: Infinity, keepAlive: false })
  // The system refuses some of many connections at once; then the wait has not begun.
  const open = (request_id: string): Promise<Ended> =>
    new Promise((resolve) => {
      const { url } = planRequest(cluster.nodes[0]!.baseUrl, operationOf('getApproval'), {
        request_id,
        wait_s: waitS,
      })
      get(url, { agent, headers: { 'x-api-key': cluster.key } }, (response) => {
        resolve({ at: performance.now(), status: response.statusCode })
        response.resume()
      }).once('error', () => setTimeout(() => resolve(open(request_id)), 200))
    })
  const opened: { request_id: string; waits: Promise<Ended>[] }[] = []
  for (const [n, request_id] of requests.entries()) {
    opened.push({ request_id, waits: Array.from({ length: waitsPerRequest }, () => open(request_id)) })
    // Not all at once, which the system would refuse.
    if (n % requestsAtOnce === 0) await pause(50)
  }
  return opened
}

const countWaiting = async ({ nodes, key }: Cluster): Promise<number> => {
  const listed = await request(nodes[0]!.baseUrl, 'listNodes', key, {})
  return listed.reduce((sum, { waiting }) => sum + waiting, 0)
}

const measure = async (server: PostgresServer, count: number, program?: readonly string[]) => {
  const cluster = await startCluster(server, { count: 1, ...(program && { program }) })
  const { nodes, key } = cluster
  const { baseUrl, process } = nodes[0]!
  try {
    const { id: org } = await must(call(baseUrl, 'createOrganization', key, { name: 'Acme' }))
    const wanted = count / waitsPerRequest
    const mobiles = await enrollMobiles(baseUrl, key, org, wanted / requestsPerApprover)
    const requests = await Promise.all(
      Array.from({ length: wanted }, async (_, n) => {
        const input = { action: 'x', approvers: [mobiles[n % mobiles.length]] }
        return (await request(baseUrl, 'createApproval', key, input)).request_id
      }),
    )
    const before = memoryOf(process.pid!)
    const open = await openWaits(cluster, requests)
    const isOpen = async (): Promise<boolean> => (await countWaiting(cluster)) >= count
    for (const until = performance.now() + (waitS / 2) * 1000; !(await isOpen());) {
      if (performance.now() > until) throw new Error(`Only ${await countWaiting(cluster)} waits are open`)
      await pause(500)
    }
    const kibEach = (memoryOf(process.pid!) - before) / count
    const times: number[] = []
    let failed = 0
    for (const { request_id, waits } of open) {
      await request(baseUrl, 'withdrawApproval', key, { request_id })
      const ended = performance.now()
      for (const { at, status } of await Promise.all(waits)) {
        times.push(Math.max(0, at - ended))
        if (status !== 200) failed++
      }
    }
    const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
    return { p99, kibEach, failed }
  } finally {
    await cluster.stop()
  }
}

export const torture: Torture = {
  name: '10,000 waits at one node on PostgreSQL',
  must: `0: p99 from the decision to the answer at most ${p99AtMostMs} ms, at most ${kibEachAtMost} KiB each`,
  run: async (): Promise<Result> => {
    const server = await startPostgres()
    // The broken variant leaves the waits to the poll.
    const broken = createVariant([
      {
        file: 'service/call/signals/signals.ts',
        from: '      wakeHere(target)\n',
        to: '',
      },
    ])
    try {
      const { p99, kibEach, failed } = await measure(server, waiters)
      const polled = await measure(server, waitersOfControl, broken.program)
      return {
        count: waiters,
        failures: failed + Number(p99 > p99AtMostMs) + Number(kibEach > kibEachAtMost),
        hits: { waits: waiters },
        control: Number(polled.p99 > p99AtMostMs),
        examples: [
          `p99 ${p99.toFixed(0)} ms, ${kibEach.toFixed(1)} KiB each`,
          `without wakes: p99 ${polled.p99.toFixed(0)} ms`,
        ],
      }
    } finally {
      broken.remove()
      await stopServer(server)
    }
  },
}
