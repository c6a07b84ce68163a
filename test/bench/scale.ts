import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'libsql'
import pg from 'pg'
import { bin } from '../e2e/processes.ts'
import { startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { stopServer } from '../torture/cluster.ts'
import { enrollApprover, request } from '../torture/enrolled-approver.ts'
import { fillStore } from '../torture/fill-store.ts'
import { median, type Figure } from './figures.ts'
import { cleanEnv, firstLine, stop } from './service-child.ts'

// A store with 100,000 users, a million audit rows and a million ended approvals: how long a start takes, and the most memory
// that each command needs.

const rows = 1_000_000
const users = 100_000
const starts = 5
const lookMs = 10

type Env = Record<string, string>

/** The most memory that a process has had, in MiB; 0 once it is gone. */
const peakOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Runs a command to its end. Throws if it fails. */
const run = async (argv: string[], env: Env): Promise<{ ms: number; mib: number }> => {
  const began = performance.now()
  const child = spawn(process.execPath, [bin, ...argv], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  let mib = 0
  const looking = setInterval(() => (mib = Math.max(mib, peakOf(child.pid!))), lookMs)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(looking)
  // A check that warns is no failure of the command.
  if (code !== 0 && argv[0] !== 'doctor') throw new Error(`svc ${argv.join(' ')} ended with ${code}: ${text}`)
  return { ms: performance.now() - began, mib }
}

const serve = async (flags: string[], env: Env) => {
  const began = performance.now()
  const argv = [bin, 'serve', '--port', '0', '--no-profile', '--drain', '0', '-o', 'json', ...flags]
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const ready = await firstLine(child)
  return { child, baseUrl: String(ready['base_url']), ms: performance.now() - began }
}

/** Copies an ended approval and its ballot. */
const fillApprovals = (file: string): void => {
  const db = new Database(file)
  db.exec('PRAGMA synchronous = OFF')
  const columnsOf = (table: string): string[] =>
    (db.prepare(`PRAGMA table_info(${table})`).all([]) as { name: string }[])
      .map(({ name }) => name)
      .filter((name) => name !== 'id')
  for (const table of ['approvals', 'ballots']) {
    const columns = columnsOf(table)
    // A ballot without a nonce is over, and its MAC is not checked.
    const copied: Record<string, string> = { request_id: "'apr_' || printf('%024d', n)", nonce: "''" }
    const values = columns.map((name) => copied[name] ?? name)
    db.exec(`WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < ${rows})
      INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()} FROM count, (SELECT * FROM ${table} LIMIT 1)`)
  }
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all([])
  db.close()
}

const create = async (dataDir: string, env: Env, key: string): Promise<void> => {
  const { child, baseUrl } = await serve(['--dev', '--data-dir', dataDir], env)
  const { id: org_id } = await request(baseUrl, 'createOrganization', key, { name: 'Acme' })
  const { mobile } = await enrollApprover(baseUrl, key, org_id)
  const { request_id } = await request(baseUrl, 'createApproval', key, {
    action: 'x',
    approvers: [mobile],
    org_id,
  })
  await request(baseUrl, 'cancelApproval', key, { request_id })
  await stop(child)
  fillStore(dataDir, { org: org_id, rows, users })
  fillApprovals(join(dataDir, 'svc.db'))
}

type Store = { name: string; flags: string[]; place: string[]; env: Env }

const measure = async ({ name, flags, place, env }: Store, folder: string): Promise<Figure[]> => {
  const took: number[] = []
  for (let n = 0; n < starts; n++) {
    const { child, ms } = await serve(flags, env)
    took.push(ms)
    await stop(child)
  }
  const { child, baseUrl } = await serve(flags, env)
  const own = { ...env, SVC_BASE_URL: baseUrl, SVC_API_KEY: env['SVC_BOOTSTRAP_API_KEY']! }
  // Its first checks and the retention run meanwhile.
  const top = await run(['top', '--once', '-o', 'json'], own)
  const doctor = await run(['doctor', ...(name === 'PostgreSQL' ? place : [])], own)
  const backup = await run(['service', 'backup', join(folder, `${name}.db`), ...place], env)
  await pause(10_000)
  const mib = peakOf(child.pid!)
  await stop(child)
  const memory = { unit: ' MiB' as const, must: 250, beyond: 150, more: false }
  return [
    {
      what: `${name}: svc serve to ready`,
      figure: median(took),
      unit: ' ms',
      must: 1000,
      beyond: 600,
      more: false,
    },
    { ...memory, what: `${name}: svc serve, with its checks and retention`, figure: mib },
    { ...memory, what: `${name}: svc top --once, ${top.ms.toFixed(0)} ms`, figure: top.mib },
    { ...memory, what: `${name}: svc doctor, ${doctor.ms.toFixed(0)} ms`, figure: doctor.mib },
    { ...memory, what: `${name}: svc service backup, ${backup.ms.toFixed(0)} ms`, figure: backup.mib },
  ]
}

export const scaleFigures = async (): Promise<Figure[]> => {
  const folder = temporaryFolder()
  const [data, key] = [join(folder.path, 'data'), `bench-${'k'.repeat(40)}`]
  const env = cleanEnv({
    HOME: folder.path,
    SVC_CONFIG_DIR: join(folder.path, 'config'),
    SVC_BOOTSTRAP_API_KEY: key,
  })
  const server = await startPostgres()
  try {
    await create(data, env, key)
    const place = ['--data-dir', data]
    const embedded = await measure({ name: 'embedded', flags: place, place, env }, folder.path)
    const client = new pg.Client({ connectionString: server.url('postgres') })
    await client.connect()
    await client.query('create database scale')
    await client.end()
    const [url, file] = [server.url('scale'), join(folder.path, 'database.url')]
    writeFileSync(file, url, { mode: 0o600 })
    const moved = await run(['service', 'migrate', ...place, '--to-database-url-file', file], env)
    const SVC_MASTER_KEY = readFileSync(join(data, 'master.key'), 'utf8').trim()
    const database = await measure(
      {
        name: 'PostgreSQL',
        flags: ['--allow-data-loss'],
        place: ['--database-url-file', file],
        env: { ...env, SVC_DATABASE_URL: url, SVC_MASTER_KEY },
      },
      folder.path,
    ).catch((error: Error): Figure[] => [
      {
        what: `PostgreSQL: ${error.message}`,
        figure: undefined,
        unit: ' ms',
        must: 1000,
        beyond: 600,
        more: false,
      },
    ])
    const what = `a move to PostgreSQL, ${(moved.ms / 1000).toFixed(0)} s`
    return [
      ...embedded,
      { what, figure: moved.mib, unit: ' MiB', must: 250, beyond: 150, more: false },
      ...database,
    ]
  } finally {
    await stopServer(server)
    folder.remove()
  }
}
