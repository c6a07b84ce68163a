import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'libsql'
import pg from 'pg'
import { startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { stopServer } from '../torture/cluster.ts'
import { request } from '../torture/enrolled-approver.ts'
import { pagesOf } from '../torture/list-paths.ts'
import { median, type Figure } from './figures.ts'
import { type Env, peakOf, run, serve } from './measured-command.ts'
import { createScaleStore } from './scale-store.ts'
import { cleanEnv, stop } from './service-child.ts'

// A store with 1,000 organizations, 100,000 users, a million audit rows and a million ended approvals: how long a start and a
// page of each list take, and the most memory that each command needs. SVC_BENCH_ROWS is another number than a million.

const rows = Number(process.env['SVC_BENCH_ROWS'] ?? 1_000_000)
const users = rows / 10
const organizations = rows / 1_000
/** Approvals that ended so long ago that the retention clears them while the commands run. */
const old = rows / 50
const starts = 5
/** Of each list. */
const reads = 11

type Store = {
  name: string
  flags: string[]
  place: string[]
  env: Env
  org: number
  /** How many approvals the retention has cleared in the end. */
  toClear: number
  /** Runs a statement on the store, as another program would. */
  runSql(sql: string): unknown
}

/** The slowest list, and how long its page takes. */
const readLists = async (baseUrl: string, key: string, org: number) => {
  let slowest = { path: '', ms: 0 }
  for (const path of pagesOf(org, 100)) {
    const times: number[] = []
    for (let n = 0; n < reads; n++) {
      const began = performance.now()
      const answer = await fetch(new URL(path, baseUrl), { headers: { 'x-api-key': key } })
      await answer.arrayBuffer()
      times.push(performance.now() - began)
      if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`)
    }
    const ms = median(times)
    if (ms > slowest.ms) slowest = { path, ms }
  }
  return slowest
}

/** Waits until the retention has cleared `count` approvals. */
const cleared = async (baseUrl: string, key: string, org_id: number, count: number): Promise<void> => {
  for (let sum = 0; sum < count; await pause(200)) {
    const rows = await request(baseUrl, 'listAudit', key, { org_id, action: 'clearApprovals' })
    sum = rows.reduce((total, { subject }) => total + Number(subject.split(':')[1]), 0)
  }
}

const measure = async (store: Store, folder: string): Promise<Figure[]> => {
  const { name, flags, place, env, org, toClear, runSql } = store
  const took: number[] = []
  for (let n = 0; n < starts; n++) {
    const { child, ms } = await serve(flags, env)
    took.push(ms)
    await stop(child)
  }
  const key = env['SVC_BOOTSTRAP_API_KEY']!
  await runSql(
    `update approvals set ended_at = '2020-01-01T00:00:00.000Z' where id in
      (select id from approvals where cleared_at is null order by id limit ${old})`,
  )
  // One of the starts has done it for this period.
  await runSql("delete from settings where name = 'last retention'")
  const { child, baseUrl } = await serve(flags, env)
  const own = { ...env, SVC_BASE_URL: baseUrl, SVC_API_KEY: key }
  // Its first checks and the retention run meanwhile.
  const top = await run(['top', '--once', '-o', 'json'], own)
  const doctor = await run(['doctor', ...(name === 'PostgreSQL' ? place : [])], own)
  const backup = await run(['service', 'backup', join(folder, `${name}.db`), ...place], env)
  const page = await readLists(baseUrl, key, org)
  await cleared(baseUrl, key, org, toClear)
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
    {
      what: `${name}: a page of 100 rows of the slowest list, ${page.path}`,
      figure: page.ms,
      unit: ' ms',
      must: 20,
      beyond: 10,
      more: false,
    },
    {
      ...memory,
      what: `${name}: svc serve, with its checks and the retention of ${old} approvals`,
      figure: mib,
    },
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
  // As in production, with autovacuum.
  const server = await startPostgres({ durable: true })
  try {
    const org = await createScaleStore(data, { rows, users, organizations }, env)
    const place = ['--data-dir', data]
    const runSql = (sql: string): void => {
      const db = new Database(join(data, 'svc.db'))
      db.exec(sql)
      db.close()
    }
    const embedded = await measure(
      { name: 'embedded', flags: place, place, env, org, toClear: old, runSql },
      folder.path,
    )
    const runIn = async (database: string, sql: string): Promise<void> => {
      const client = new pg.Client({ connectionString: server.url(database) })
      await client.connect()
      await client.query(sql)
      await client.end()
    }
    await runIn('postgres', 'create database scale')
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
        org,
        toClear: 2 * old,
        runSql: (sql) => runIn('scale', sql),
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
