import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import { startServe, svc, type Service } from '../e2e/processes.ts'
import type { PostgresServer } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'

export type NodeOptions = {
  /** What Node runs instead of the built program. */
  program?: readonly string[]
  args?: string[]
  env?: Record<string, string>
}

/** Nodes of svc, each a process, on a database of their own. */
export type Cluster = {
  /** Of the operator. */
  key: string
  nodes: Service[]
  databaseUrl: string
  masterKey: string
  /** Starts one more node; the caller puts it into `nodes`. */
  start(options?: NodeOptions): Promise<Service>
  /** Runs SQL on the database, past the service. */
  query<T extends object>(sql: string, values?: unknown[]): Promise<T[]>
  /** What is wrong with the audit chains of these organizations and of the service. `operator` is another key if `key` was revoked. */
  brokenChains(orgs: readonly number[], operator?: string): Promise<string[]>
  stop(): Promise<void>
}

type ClusterOptions = NodeOptions & {
  count: number
  /** Reaches the database in another way than `server`, for example through a proxy. */
  through?: string
  /** Refuses a database that can lose acknowledged writes. */
  durable?: boolean
}

const run = async <T extends object>(url: string, sql: string, values: unknown[] = []): Promise<T[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<T>(sql, values)).rows
  } finally {
    await client.end()
  }
}

export const startCluster = async (
  server: PostgresServer,
  { count, through, durable = false, ...options }: ClusterOptions,
): Promise<Cluster> => {
  const folder = temporaryFolder()
  const key = `svc_op_torture_${randomBytes(24).toString('hex')}`
  const name = `torture_${randomBytes(6).toString('hex')}`
  await run(server.url('postgres'), `create database ${name}`)
  const databaseUrl = server.url(name)
  const url = new URL(databaseUrl)
  if (through !== undefined) url.port = new URL(through).port
  const masterKey = randomBytes(32).toString('hex')
  const shared = { SVC_DATABASE_URL: url.href, SVC_MASTER_KEY: masterKey }
  const start = ({ program, args = [], env }: NodeOptions = {}) =>
    startServe(folder.path, key, {
      args: [
        '--dev',
        // One address for all nodes: a signature for one of them is valid at each.
        '--public-url',
        'http://localhost:8080',
        '--drain',
        '0',
        ...(durable ? [] : ['--allow-data-loss']),
        ...(options.args ?? []),
        ...args,
      ],
      env: { HOME: folder.path, ...shared, ...options.env, ...env },
      ...((program ?? options.program) && { program: program ?? options.program! }),
    })
  // The first one creates the tables and the key of the operator.
  const nodes: Service[] = []
  for (let n = 0; n < Math.min(count, 1); n++) nodes.push(await start())
  nodes.push(...(await Promise.all(Array.from({ length: count - nodes.length }, () => start()))))
  return {
    key,
    nodes,
    databaseUrl,
    masterKey,
    start,
    query: (sql, values) => run(url.href, sql, values),
    brokenChains: async (orgs, operator = key) => {
      const broken: string[] = []
      for (const org of [undefined, ...orgs]) {
        const { exit, stderr } = await svc(
          ['audit', 'verify', ...(org === undefined ? [] : ['--org', String(org)])],
          { SVC_BASE_URL: nodes[0]!.baseUrl, SVC_API_KEY: operator, SVC_CONFIG_DIR: folder.path },
        )
        if (exit !== 0) broken.push(`the audit chain of ${org ?? 'the service'}: ${stderr}`)
      }
      return broken
    },
    stop: async () => {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')))
      folder.remove()
    },
  }
}

/** Stops a database and waits until its folder is gone. */
export const stopServer = async (server: PostgresServer): Promise<void> => {
  const { process } = server
  const ended = process.exitCode === null && process.signalCode === null ? once(process, 'exit') : undefined
  process.ref()
  server.stop()
  await ended
}
