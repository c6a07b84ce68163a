import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../service/storage/postgres-server.ts'
import { type Cluster, startCluster, stopServer } from './cluster.ts'
import { enrollMobiles, request } from './enrolled-approver.ts'
import { call, exampleInput, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { openWait } from './waits.ts'

const kills = 100
const clients = 8
const waitsAtOnce = 6

type Load = {
  cluster: Cluster
  org: number
  stopped: boolean
  sent: Set<string>
  acknowledged: string[]
  hits: Record<string, number>
  odd: string[]
}

const add = (hits: Record<string, number>, what: string): void => void (hits[what] = (hits[what] ?? 0) + 1)

/** Writes, and repeats at another node what got no response. A naive client does not repeat. */
const write = async (load: Load, client: number, naive: boolean): Promise<void> => {
  let node = client
  for (let i = 0; !load.stopped; i++) {
    const name = `${naive ? 'naive' : 'client'} ${client} ${i}`
    const headers = { 'idempotency-key': randomUUID() }
    const input = { ...exampleInput('createGeofence'), org_id: load.org, name }
    load.sent.add(name)
    for (;;) {
      const { baseUrl } = load.cluster.nodes[node % load.cluster.nodes.length]!
      const reply = await call(baseUrl, 'createGeofence', load.cluster.key, input, headers).catch(
        () => undefined,
      )
      if (reply?.status === 200) load.acknowledged.push(name)
      else if (reply) load.odd.push(`${name}: ${reply.status} ${reply.text}`)
      if (reply) break
      node++
      add(load.hits, 'without a response')
      if (naive) break
    }
  }
}

/** Opens waits at the nodes that stay, and ends them there after the kill. Returns what is wrong. */
const killOne = async (load: Load, round: number, mobiles: readonly string[]): Promise<string[]> => {
  const { cluster, hits } = load
  const victim = round % cluster.nodes.length
  const [one, other] = cluster.nodes.filter((_, n) => n !== victim)
  const approvals = await Promise.all(
    Array.from({ length: waitsAtOnce }, async (_, n) => {
      const input = { action: 'x', approvers: [mobiles[(round * waitsAtOnce + n) % mobiles.length]] }
      const { request_id } = await request(other!.baseUrl, 'createApproval', cluster.key, input)
      const waiting = openWait(n % 2 === 0 ? one!.baseUrl : other!.baseUrl, cluster.key, request_id)
      return { request_id, waiting }
    }),
  )
  await pause(20 + ((round * 37) % 130))
  await cluster.nodes[victim]!.stop('SIGKILL')
  add(hits, 'kills')
  const starting = cluster.start()
  const wrong = await Promise.all(
    approvals.map(async ({ request_id, waiting }) => {
      await request(one!.baseUrl, 'withdrawApproval', cluster.key, { request_id })
      const { status, waited } = await waiting
      if (status === 'expired') add(hits, 'waits that outlived a kill')
      return status === 'expired' && waited ? undefined : `a wait ended with ${status}`
    }),
  )
  cluster.nodes[victim] = await starting
  return wrong.filter((text) => text !== undefined)
}

export const torture: Torture = {
  name: 'kill -9 of one of three nodes while clients write and wait',
  must: '0 acknowledged writes lost or doubled, every chain valid, every wait answered',
  run: async (): Promise<Result> => {
    const server = await startPostgres()
    const cluster = await startCluster(server, { count: 3 })
    const { baseUrl } = cluster.nodes[0]!
    try {
      const { id: org } = await must(call(baseUrl, 'createOrganization', cluster.key, { name: 'Acme' }))
      const mobiles = await enrollMobiles(baseUrl, cluster.key, org, (kills * waitsAtOnce) / 4)
      const load: Load = {
        cluster,
        org,
        stopped: false,
        sent: new Set(),
        acknowledged: [],
        hits: {},
        odd: [],
      }
      const working = Array.from({ length: clients }, (_, client) => write(load, client, client % 4 === 3))
      const wrong: string[] = []
      for (let round = 0; round < kills; round++) wrong.push(...(await killOne(load, round, mobiles)))
      load.stopped = true
      await Promise.all(working)
      const rows = await cluster.query<{ name: string }>('select name from geofences')
      const there = new Map<string, number>()
      for (const { name } of rows) there.set(name, (there.get(name) ?? 0) + 1)
      for (const name of load.acknowledged) if (!there.has(name)) wrong.push(`lost ${name}`)
      for (const [name, times] of there) if (times > 1) wrong.push(`written ${times} times: ${name}`)
      wrong.push(...load.odd, ...(await cluster.brokenChains([org])))
      return {
        count: load.acknowledged.length,
        failures: wrong.length,
        hits: { ...load.hits, acknowledged: load.acknowledged.length },
        // The broken variant counts a request as done when it was sent, and goes on.
        control: [...load.sent].filter((name) => name.startsWith('naive') && !there.has(name)).length,
        examples: wrong.slice(0, 5),
      }
    } finally {
      await cluster.stop()
      await stopServer(server)
    }
  },
}
