import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { openPostgres } from '../../src/service/storage/postgres/open.ts'
import { svc } from '../e2e/processes.ts'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { masterKey, type Node, operator, startNode } from './nodes.ts'
import { startStandby } from './postgres-standby.ts'

const folder = temporaryFolder()
let server: PostgresServer
let standby: Awaited<ReturnType<typeof startStandby>> | undefined
let node: Node

const sql = async (...statements: string[]): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

const examine = async (url = server.url('svc')) => {
  const { exit, stdout } = await svc('doctor -o json', {
    SVC_BASE_URL: `${node.origin}/admin/public/api`,
    SVC_API_KEY: operator,
    SVC_CONFIG_DIR: folder.path,
    SVC_DATABASE_URL: url,
    SVC_MASTER_KEY: masterKey,
  })
  const findings = (JSON.parse(stdout) as Finding[]).filter(({ check }) => check === 'database')
  return { exit, lines: findings.map(({ state, message }) => `${state} ${message}`), findings }
}

beforeAll(async () => {
  server = await startPostgres({ durable: true })
  await sql('create database svc', 'create role reader login')
  node = await startNode(server.url('svc'), ['--drain', '0'])
})
afterAll(async () => {
  await node.stop('SIGKILL')
  standby?.stop()
  server.stop()
  folder.remove()
})

test('svc doctor checks the database of SVC_DATABASE_URL', async () => {
  const { lines } = await examine()
  expect(lines).toEqual([
    expect.stringMatching(
      /^ok postgres:\/\/svc@127\.0\.0\.1:\d+\/svc: PostgreSQL \d+\S*.*, without TLS, on this machine$/,
    ),
    expect.stringMatching(/^ok schema \d+, as this svc has$/),
    'ok this user can write',
    'ok this user can upgrade the schema',
    'note no standby is connected: a lost disk loses what the last backup lacks',
    expect.stringMatching(/^ok its clock is within \d s of this machine$/),
    expect.stringMatching(/^ok \d+ of 400 connections of the server in use; 1 node may open 11$/),
    'ok no backup was ever written, and the store is 0 days old',
  ])
})

test('says what a user without rights cannot do', async () => {
  await sql('grant pg_read_all_data to reader')
  const { exit, lines, findings } = await examine(server.url('svc').replace('svc@', 'reader@'))
  expect(exit).toBe(1)
  expect(lines[2]).toBe('fail this user cannot write')
  expect(findings[2]?.next).toContain('whose user owns the tables')
  expect(lines[3]).toBe('warn this user cannot create tables, so it cannot upgrade the schema')
  expect(findings[3]?.next).toBe('GRANT CREATE ON SCHEMA public TO "reader"')
})

test('fails if the database can be read and not written, and writes nothing itself', async () => {
  await sql('alter database svc set default_transaction_read_only = on')
  try {
    const { exit, lines, findings } = await examine()
    expect([exit, lines[2]]).toEqual([1, expect.stringMatching(/^fail The database at .* is read-only/)])
    expect(findings[2]?.next).toContain('default_transaction_read_only')
    expect(findings.filter(({ state }) => state === 'fail')).toHaveLength(1)
  } finally {
    await sql('alter database svc reset default_transaction_read_only')
  }
  const client = new pg.Client({ connectionString: server.url('svc') })
  await client.connect()
  const { rows } = await client.query("select 1 from settings where name = 'write_probe_pages'")
  expect([rows, (await examine()).lines[2]]).toEqual([[], 'ok this user can write'])
  await client.end()
})

test('fails if the tables stay locked, and does not wait for them', async () => {
  const client = new pg.Client({ connectionString: server.url('svc') })
  await client.connect()
  await client.query('begin; lock table settings in exclusive mode')
  try {
    expect((await examine()).lines[2]).toMatch(/^fail .*lock timeout/)
  } finally {
    await client.end()
  }
})

const minuteAgo = `to_char(now() at time zone 'utc' - interval '1 minute', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
const addNode = (id: string, seen: string): string =>
  `insert into nodes (id, address, state, version, schema_version, started_at, seen_at, requests, waiting,
     writes_per_second, connections, connections_limit)
   select '${id}', '${id}', 'serving', '${id}', schema_version, started_at, ${seen}, 0, 0, 0, 0, 10 from nodes limit 1`

test('counts only nodes that have reported lately, and reports different versions', async () => {
  const client = new pg.Client({ connectionString: server.url('svc') })
  await client.connect()
  try {
    await client.query(addNode('0.0.1-lost', minuteAgo))
    const { lines: withLost, findings } = await examine()
    expect(withLost[6]).toMatch(/; 1 node may open 11$/)
    expect(withLost[7]).toBe('warn 1 node stopped reporting within 10 minutes: 0.0.1-lost')
    expect(findings[7]?.next).toContain('systemctl status svc')
    await client.query(addNode('9.9.9-newer', "'2999-01-01T00:00:00.000Z'"))
    const { lines } = await examine()
    expect(lines[6]).toMatch(/; 2 nodes may open 22$/)
    expect(lines[7]).toMatch(/^note nodes run different versions: .*, 9\.9\.9-newer$/)
  } finally {
    await client.query("delete from nodes where id in ('0.0.1-lost', '9.9.9-newer')")
    await client.end()
  }
})

test('--database-url-file names the database, and an old backup of it is a warning', async () => {
  const client = new pg.Client({ connectionString: server.url('svc') })
  await client.connect()
  const file = join(folder.path, 'database.url')
  writeFileSync(file, server.url('svc'), { mode: 0o600 })
  try {
    await client.query(
      "insert into settings (name, value) values ('last backup', '2026-01-01T00:00:00.000Z')",
    )
    const { stdout } = await svc(`doctor --database-url-file ${file}`, { SVC_CONFIG_DIR: folder.path })
    expect(stdout).toMatch(/^warn +database +the last backup is \d+ days old\n +next: svc service backup/m)
  } finally {
    await client.end()
  }
  expect((await svc(`service backup ${folder.path}/b.db --database-url-file ${file}`, {})).exit).toBe(0)
  const { stdout } = await svc(`doctor --database-url-file ${file}`, { SVC_CONFIG_DIR: folder.path })
  expect(stdout).toMatch(/^ok +database +the last backup is 0 days old/m)
})

test('fails if the database cannot be reached, and shows no password', async () => {
  const { exit, findings } = await examine('postgres://svc:canary-pa55@127.0.0.1:1/svc')
  expect(exit).toBe(1)
  expect(findings).toMatchObject([{ state: 'fail', next: expect.stringContaining('pg_isready') }])
  expect(JSON.stringify(findings)).not.toContain('canary')
})

test('asynchronous replication is refused by a start and by doctor, synchronous replication is not', async () => {
  standby = await startStandby(server)
  const url = server.url('svc')
  const open = async (user = 'svc'): Promise<string> => {
    const opened = await openPostgres({ url: url.replace('svc@', `${user}@`), durable: true }).catch(
      (error: { code: string; hint: string }) => error,
    )
    if ('code' in opened) return `${opened.code}: ${opened.hint}`
    await opened.close()
    return 'opened'
  }
  expect(await open()).toMatch(/^database_loses_data: Set synchronous_standby_names.*--allow-data-loss$/)
  expect(await open('reader')).toContain('pg_monitor')
  expect((await examine()).lines[4]).toMatch(/^fail replication to the standby is asynchronous/)
  const before = await svc('serve --port 0', { SVC_DATABASE_URL: url, SVC_MASTER_KEY: masterKey })
  expect([before.exit, before.stderr]).toEqual([1, expect.stringContaining('The database can lose data')])
  const accepting = await startNode(url, ['--allow-data-loss', '--drain', '0'])
  expect(await accepting.stop()).toBe(0)

  await sql("alter system set synchronous_standby_names = 'standby'", 'select pg_reload_conf()')
  await expect
    .poll(async () => (await examine()).lines[4])
    .toMatch(/^ok 1 of 1 standbys synchronous; the slowest is 0 MiB/)
  expect(await open()).toBe('opened')
  const told: [string, string | undefined][] = []
  const watching = await openPostgres({
    url,
    durable: true,
    lookMs: 100,
    report: (message, level) => told.push([message, level]),
  })
  const tells = async (message: string, level?: 'warn') =>
    await expect.poll(() => told.at(-1)).toEqual([expect.stringContaining(message), level])
  await sql("alter system set synchronous_standby_names = 'another'", 'select pg_reload_conf()')
  await tells('No synchronous standby is connected: writes wait until one is', 'warn')
  expect(watching.replication()?.risk).toBe('writes_wait')
  await sql('alter system reset synchronous_standby_names', 'select pg_reload_conf()')
  await tells('replication to the standby is asynchronous', 'warn')
  expect(watching.replication()?.risk).toBe('loses_writes')
  await sql("alter system set synchronous_standby_names = 'standby'", 'select pg_reload_conf()')
  await tells('The database keeps every acknowledged write again')
  expect(watching.replication()?.risk).toBeUndefined()
  // A standby takes a moment to become synchronous again, and that is reported too.
  expect(told.filter(([message], at) => message === told[at - 1]?.[0])).toEqual([])
  await watching.close()

  const atStandby = url.replace(String(server.port), String(standby.port))
  await expect(openPostgres({ url: atStandby, durable: true })).rejects.toMatchObject({
    code: 'database_read_only',
  })
})
