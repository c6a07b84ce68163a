import { spawn } from 'node:child_process'
import pg from 'pg'
import { call, must } from '../torture/requests.ts'
import { startPostgres, type PostgresServer } from '../service/storage/postgres-server.ts'
import type { Figure } from './figures.ts'
import { pgbenchWrites } from './pgbench.ts'
import type { StoresLoad } from './stores-load.mts'
import { benchFile, cleanEnv, firstLine, startService, stop, type ServiceChild } from './service-child.ts'

type Load = { perSecond: number; requests: number; failed: number; p50: number }
type Nodes = { nodes: ServiceChild[]; organizations: number[]; databaseUrl?: string | undefined }

const seconds = 4
const warmUp = 3
const many = 1_000

const masterKey = 'ab'.repeat(32)

const load = async (
  { nodes, organizations }: Nodes,
  what: { clients: number; write: boolean; organizations?: number },
): Promise<Load> => {
  const orgs = organizations.slice(0, what.organizations ?? organizations.length)
  const argument = JSON.stringify({
    ...what,
    nodes: nodes.map(({ baseUrl }) => baseUrl),
    organizations: orgs,
    seconds,
    warmUp,
  } satisfies StoresLoad)
  const child = spawn(process.execPath, ['--import', 'tsx', benchFile('stores-load.mts'), argument], {
    env: nodes[0]!.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const result = (await firstLine(child)) as Load
  await stop(child)
  if (result.failed > 0 || result.requests === 0)
    throw new Error(`${result.failed} requests failed: ${argument}`)
  return result
}

/** A database as far away as a round trip of `roundTripMs`. */
const atDistance = async ({ port }: PostgresServer, roundTripMs: number) => {
  if (roundTripMs === 0) return { port, end: async () => undefined }
  const argument = JSON.stringify({ port, roundTripMs })
  const proxy = spawn(process.execPath, ['--import', 'tsx', benchFile('far-away.mts'), argument], {
    env: cleanEnv(),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { port: near } = await firstLine(proxy)
  return { port: Number(near), end: () => stop(proxy) }
}

const addOrganizations = async ({ baseUrl, apiKey }: ServiceChild, count: number): Promise<number[]> => {
  const ids: number[] = []
  const add = async (): Promise<void> => {
    while (ids.length < count) {
      const place = ids.push(0) - 1
      const created = await must(call(baseUrl, 'createOrganization', apiKey, { name: `Bench ${place}` }))
      ids[place] = created.id
      // One organization gets more geofences than it may have by default.
      await must(call(baseUrl, 'setLimits', apiKey, { org_id: created.id, geofences: 1_000_000 }))
    }
  }
  await Promise.all(Array.from({ length: 16 }, add))
  return ids
}

/** Runs `measure` with the nodes of one store: the embedded one, or a new database. */
const withNodes = async <T>(
  { server, count, roundTripMs, organizations }: StoreOptions,
  measure: (nodes: Nodes) => Promise<T>,
): Promise<T> => {
  const started: ServiceChild[] = []
  const far = server && (await atDistance(server, roundTripMs))
  let env: Record<string, string> = {}
  if (server && far) {
    const database = `bench_${process.hrtime.bigint()}`
    const client = new pg.Client({ connectionString: server.url('postgres') })
    await client.connect()
    await client.query(`create database ${database}`)
    await client.end()
    env = { SVC_DATABASE_URL: `postgres://svc@127.0.0.1:${far.port}/${database}`, SVC_MASTER_KEY: masterKey }
  }
  try {
    for (let n = 0; n < count; n++) started.push(await startService(env))
    return await measure({
      nodes: started,
      organizations: await addOrganizations(started[0]!, organizations),
      databaseUrl: env['SVC_DATABASE_URL'],
    })
  } finally {
    for (const node of started) await node.end()
    await far?.end()
  }
}

type StoreOptions = {
  server?: PostgresServer
  count: number
  roundTripMs: number
  organizations: number
}

type Row = { store: string; what: string; perSecond: number; p50: number }

/** The stores beside each other, and the ratios that must hold. */
export const storeFigures = async (): Promise<Figure[]> => {
  const server = await startPostgres({ durable: true })
  const rows: Row[] = []
  const one = 'PostgreSQL, 1 node'
  const measure = async (
    store: string,
    options: StoreOptions,
    what: { clients: number; write: boolean; organizations?: number },
  ) =>
    withNodes(options, async (nodes) => {
      const { perSecond, p50 } = await load(nodes, what)
      const orgs = what.organizations ?? options.organizations
      rows.push({
        store,
        what: `${what.write ? 'writes' : 'reads'}, ${orgs} organization${orgs === 1 ? '' : 's'}, ${options.roundTripMs} ms`,
        perSecond,
        p50,
      })
      if (store === one && what.write) yardstick(nodes)
      return perSecond
    })
  /** What the database does with the statements of a node, without one. */
  const yardstick = ({ databaseUrl, organizations }: Nodes): void => {
    const perSecond = pgbenchWrites(databaseUrl!, { organizations, clients: 5, seconds })
    rows.push({ ...rows.at(-1)!, store: 'pgbench', perSecond, p50: (5 / perSecond) * 1_000 })
  }
  try {
    const write = { clients: 64, write: true }
    const read = { clients: 32, write: false }
    const base = { count: 1, roundTripMs: 0 }
    let scaled = 0
    const embedded = await measure('embedded', { ...base, organizations: 64 }, write)
    await measure('embedded', { ...base, organizations: 1 }, write)
    const oneNode = await measure(one, { ...base, server, organizations: 64 }, write)
    await measure(one, { ...base, server, organizations: 1 }, write)
    await measure('PostgreSQL, 2 nodes', { ...base, server, count: 2, organizations: 64 }, write)
    await measure('PostgreSQL, 4 nodes', { ...base, server, count: 4, organizations: 64 }, write)
    const embeddedReads = await measure('embedded', { ...base, organizations: 1 }, read)
    const reads = await measure(one, { ...base, server, organizations: 1 }, read)
    for (const roundTripMs of [0.7, 6]) {
      const far = { server, roundTripMs, organizations: many }
      const alone = await measure(one, { ...far, count: 1 }, { ...write, clients: 16 })
      await measure('PostgreSQL, 2 nodes', { ...far, count: 2 }, { ...write, clients: 32 })
      const four = await measure('PostgreSQL, 4 nodes', { ...far, count: 4 }, { ...write, clients: 64 })
      scaled = four / alone
    }
    for (const { store, what, perSecond, p50 } of rows)
      process.stdout.write(
        `${store.padEnd(20)} ${what.padEnd(36)} ${Math.round(perSecond)}/s  p50 ${p50.toFixed(1)} ms\n`,
      )
    const ratio = { unit: '' as const, more: true }
    return [
      {
        ...ratio,
        what: 'writes, one PostgreSQL node / embedded',
        figure: oneNode / embedded,
        must: 0.5,
        beyond: 0.8,
      },
      {
        ...ratio,
        what: 'uncached reads, one PostgreSQL node / embedded',
        figure: reads / embeddedReads,
        must: 0.5,
        beyond: 0.8,
      },
      {
        ...ratio,
        what: `writes, 4 nodes / 1 node, 6 ms away, ${many} organizations`,
        figure: scaled,
        must: 2.5,
        beyond: 3.5,
      },
    ]
  } finally {
    server.stop()
  }
}
