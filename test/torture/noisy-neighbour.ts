import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median } from '../bench/figures.ts'
import type { StoresLoad } from '../bench/stores-load.mts'
import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import { startProxy } from '../service/storage/postgres/cut-connections.ts'
import { startCluster, stopServer } from './cluster.ts'
import { call, exampleInput, must } from './requests.ts'
import type { Result, Torture } from './torture.ts'
import { createVariant } from './variant.ts'

/** The way to the database: a flood then waits for it, and does not need the processor that the measurement needs, too. */
const delayMs = 3
const samples = 40
const rounds = 3
const betweenMs = 5
const connections = 24
const warmUpMs = 1_000
/** Longer than everything that is measured beside it; it is then killed. */
const floodSeconds = 600

const flood = fileURLToPath(new URL('../bench/stores-load.mts', import.meta.url))

const measure = async (server: PostgresServer, program?: readonly string[]) => {
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
    const p50 = async (): Promise<number> => {
      const times: number[] = []
      for (let i = 0; i < samples; i++) {
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
    const load: StoresLoad = {
      nodes: [baseUrl],
      organizations: [noisy.org],
      clients: connections,
      seconds: floodSeconds,
      warmUp: 0,
      write: true,
    }
    const child = spawn(process.execPath, ['--import', 'tsx', flood, JSON.stringify(load)], {
      env: { PATH: process.env.PATH, SVC_API_KEY: noisy.key },
      stdio: 'ignore',
    })
    const written = async (): Promise<number> =>
      Number(
        (
          await cluster.query<{ count: string }>(`select count(*) from geofences where org_id = ${noisy.org}`)
        )[0]!.count,
      )
    while ((await written()) === 0) {
      if (child.exitCode !== null) throw new Error(`the flood ended with ${child.exitCode}`)
      await pause(100)
    }
    await pause(warmUpMs)
    const before = await written()
    const beside = await least()
    const writes = (await written()) - before
    child.kill('SIGKILL')
    return { alone, beside, writes }
  } finally {
    await cluster.stop()
    proxy.stop()
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

const spoken = ({ alone, beside, writes }: Measured): string =>
  `${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${writes} writes`

export const torture: Torture = {
  name: `Noisy neighbour on PostgreSQL: ${connections} connections of one organization that write without a pause`,
  must: '0: the p50 of the writes of another organization at most doubles',
  run: async (): Promise<Result> => {
    const server = await startPostgres({ durable: true })
    // The broken variant has a lane for each write: it takes a connection and waits for the lock there.
    const withoutLanes = createVariant([
      {
        file: 'service/storage/postgres/lanes.ts',
        from: 'opening, orgs, lane: org,',
        to: 'opening, orgs, lane: org === null ? null : -Math.random(),',
      },
    ])
    try {
      const real = await measure(server)
      const broken = await measure(server, withoutLanes.program)
      const isWorse = ({ alone, beside }: Measured): boolean => beside > 2 * alone
      return {
        count: rounds * samples,
        failures: Number(isWorse(real)),
        hits: { 'writes of the flood': real.writes },
        control: Number(isWorse(broken)),
        examples: [`p50: ${spoken(real)}`, `without lanes: ${spoken(broken)}`],
      }
    } finally {
      withoutLanes.remove()
      await stopServer(server)
    }
  },
}
