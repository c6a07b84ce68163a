import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { RunLine } from '../program/program.ts'
import type { Io } from '../terminal/io.ts'
import { nodeSteps } from './node-steps.ts'
import { playAll } from './play.ts'
import { startDatabase } from './database.ts'
import { createProcesses } from './processes.ts'

/** Plays the demo on PostgreSQL and this many nodes, which are processes of their own. `io` has their folder and environment. */
export const playOnNodes = async (
  count: number,
  io: Io,
  { started, run }: { started: number; run: RunLine },
): Promise<void> => {
  const { cwd: folder, env } = io
  const processes = createProcesses(folder, io.signal)
  try {
    const databaseUrl = await startDatabase(folder, env, processes)
    io.stdout.write('PostgreSQL is ready, in a temporary folder\n')
    const [key, masterKey] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]
    // One address for all of them, as behind a load balancer: it is the issuer of the receipts.
    const flags = [
      'serve',
      '--port',
      '0',
      '--public-url',
      'http://localhost',
      '--dev',
      '--no-profile',
      '-o',
      'json',
    ]
    const startNode = () =>
      processes.start('A node', process.execPath, [realpathSync(process.argv[1]!), ...flags], {
        env: {
          PATH: env.PATH ?? '',
          SVC_CONFIG_DIR: join(folder, 'config'),
          SVC_DATABASE_URL: databaseUrl,
          SVC_MASTER_KEY: masterKey,
          SVC_BOOTSTRAP_API_KEY: key,
        },
        endsBy: 'SIGKILL',
      })
    const nodes = Array.from({ length: count }, startNode)
    const urls = await Promise.all(
      nodes.map(async (node) => (await node.printed(/"base_url":"([^"]+)"/))[1]!),
    )
    const named = urls.map((url, n) => [`node${n + 1}`, url] as const)
    io.stdout.write(named.map(([name, url]) => `${name}=${url}\n`).join(''))
    const killFirst = async (): Promise<string> => {
      await nodes[0]!.kill()
      return `kill -9 ${nodes[0]!.pid}`
    }
    await playAll(
      nodeSteps(killFirst, count),
      { ...io, env: { ...env, SVC_API_KEY: key } },
      { started, run, values: new Map(named) },
    )
  } finally {
    await processes.end()
  }
}
