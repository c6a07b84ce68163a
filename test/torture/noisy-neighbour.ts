import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median } from '../bench/figures.ts'
import type { StoresLoad } from '../bench/stores-load.mts'
import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import { startProxy } from '../service/storage/postgres/cut-connections.ts'
import { type Cluster, startCluster, stopServer } from './cluster.ts'
import { enrollApprover } from './enrolled-approver.ts'
import { startNoise } from './noise.ts'
import { call, exampleInput, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { createVariant } from './variant.ts'

/** The way to the database: a flood then waits for it, and does not need the processor that the measurement needs, too. */
const delayMs = 3
const samples = 40
const rounds = 3
const fewSamples = 7
const betweenMs = 5
const connections = 24
const warmUpMs = 1_000
/** Longer than everything that is measured beside it; it is then killed. */
const floodSeconds = 600

const flood = fileURLToPath(new URL('../bench/stores-load.mts', import.meta.url))

const members = 20

type Noisy = { baseUrl: string; org: number; key: string; cluster: Cluster }

/** A flood that has begun. `stop` returns how much it did, by kind. */
type Flood = (noisy: Noisy) => Promise<{ stop(): Promise<Record<string, number>> }>

const writes: Flood = async ({ baseUrl, org, key, cluster }) => {
  const load: StoresLoad = {
    nodes: [baseUrl],
    organizations: [org],
    clients: connections,
    seconds: floodSeconds,
    warmUp: 0,
    write: true,
  }
  const child = spawn(process.execPath, ['--import', 'tsx', flood, JSON.stringify(load)], {
    env: { PATH: process.env.PATH, SVC_API_KEY: key },
    stdio: 'ignore',
  })
  const written = async (): Promise<number> => {
    const sql = `select count(*) from geofences where org_id = ${org}`
    return Number((await cluster.query<{ count: string }>(sql))[0]!.count)
  }
  while ((await written()) === 0) {
    if (child.exitCode !== null) throw new Error(`the flood ended with ${child.exitCode}`)
    await pause(100)
  }
  return {
    stop: async () => {
      child.kill('SIGKILL')
      return { 'writes of the flood': await written() }
    },
  }
}

/** Each looks at twenty people. After the first few, the limits of these people refuse them, which takes as long. */
const requests: Flood = async ({ baseUrl, org, key, cluster }) => {
  const people = []
  for (let n = 0; n < members; n++) people.push(await enrollApprover(baseUrl, cluster.key, org))
  const group = { org_id: org, name: 'crowd', members: people.map(({ user }) => user) }
  await must(call(baseUrl, 'createGroup', cluster.key, group))
  const noise = { baseUrl, org, key, connections, approvers: ['@crowd:2'] }
  const stop = await startNoise(noise)
  return {
    stop: async () => {
      const answered = Object.entries(await stop()).map(([status, count]) => [`requests ${status}`, count])
      return Object.fromEntries(answered) as Record<string, number>
    },
  }
}

const measure = async (server: PostgresServer, begin: Flood, program?: readonly string[]) => {
  const proxy = await startProxy(server.url('postgres'), { delayMs })
  const cluster = await startCluster(server, { count: 1, through: proxy.url, ...(program && { program }) })
  const { baseUrl } = cluster.nodes[0]!
  let serial = 0
  const newTenant = async (name: string) => {
    const { id: org } = await must(call(baseUrl, 'createOrganization', cluster.key, { name }))
    const input = { name, org_id: org, scopes: ['all'] }
    return { org, key: (await must(call(baseUrl, 'createKey', cluster.key, input))).key }
  }
  try {
    const noisy = await newTenant('noisy')
    const quiet = await newTenant('quiet')
    const p50 = async (count = samples): Promise<number> => {
      const times: number[] = []
      for (let i = 0; i < count; i++) {
        const input = { ...exampleInput('createGeofence'), org_id: quiet.org, name: `quiet ${serial++}` }
        const began = performance.now()
        await must(call(baseUrl, 'createGeofence', quiet.key, input))
        times.push(performance.now() - began)
        await pause(betweenMs)
      }
      return median(times)
    }
    // The flood affects every round, but a busy machine does not.
    const least = async (): Promise<number> => {
      let shortest = Infinity
      for (let round = 0; round < rounds; round++) shortest = Math.min(shortest, await p50())
      return shortest
    }
    await p50()
    const alone = await least()
    const { stop } = await begin({ ...noisy, baseUrl, cluster })
    await pause(warmUpMs)
    // The broken variant is so slow that its few writes take minutes.
    const beside = await (program ? p50(fewSamples) : least())
    return { alone, beside, hits: await stop() }
  } finally {
    await cluster.stop()
    proxy.stop()
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

const spoken = ({ alone, beside, hits }: Measured): string =>
  `${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${JSON.stringify(hits)}`

const isWorse = ({ alone, beside }: Measured): boolean => beside > 2 * alone

export const torture: Torture = {
  name: `Noisy neighbour on PostgreSQL: ${connections} connections of one organization that write, or ask groups of ${members}, without a pause`,
  must: '0: the p50 of the writes of another organization at most doubles',
  run: async (): Promise<Result> => {
    const server = await startPostgres({ durable: true })
    // The broken variant has a lane for each write: it takes a connection and waits for the lock there.
    const withoutLanes = createVariant([
      {
        file: 'service/storage/postgres/lanes.ts',
        from: 'lane: org,',
        to: 'lane: org === null ? null : -Math.random(),',
      },
    ])
    try {
      const real = [await measure(server, writes), await measure(server, requests)]
      const broken = [
        await measure(server, writes, withoutLanes.program),
        await measure(server, requests, withoutLanes.program),
      ]
      return {
        count: real.length * rounds * samples,
        failures: real.filter(isWorse).length,
        hits: Object.assign({}, ...real.map(({ hits }) => hits)) as Record<string, number>,
        control: Number(broken.every(isWorse)),
        examples: [
          ...real.map((one) => `p50: ${spoken(one)}`),
          ...broken.map((one) => `without lanes: ${spoken(one)}`),
        ],
      }
    } finally {
      withoutLanes.remove()
      await stopServer(server)
    }
  },
}
