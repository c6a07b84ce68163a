import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newestVersion } from '../../src/service/storage/migrations.ts'
import { remote } from '../e2e/person.ts'
import { type Ended, svc } from '../e2e/processes.ts'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { masterKey, type Node, operator, startNode } from './nodes.ts'

const folder = temporaryFolder()
const newKey = '33'.repeat(32)
let server: PostgresServer
let node: Node
let env: Record<string, string>

const sql = async (database: string, text: string): Promise<void> => {
  const client = new pg.Client({ connectionString: server.url(database) })
  await client.connect()
  await client.query(text)
  await client.end()
}
const service = (line: string, more: Record<string, string> = {}): Promise<Ended> =>
  svc(`service ${line} -o json`, { ...env, ...more })
const resetKey = async (): Promise<string> => {
  const { exit, stdout } = await service('reset-operator-key --yes')
  expect(exit).toBe(0)
  return (JSON.parse(stdout) as { key: string }).key
}
const kids = async () =>
  (
    (await (await fetch(`${node.origin}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }
  ).keys.map(({ kid }) => kid)
const statusWith = async (key: string): Promise<number> =>
  (await remote(`${node.origin}/admin/public/api`, key).call('GET', '/organizations')).status

beforeAll(async () => {
  server = await startPostgres({ durable: true })
  await sql('postgres', 'create database svc')
  await sql('postgres', 'create database empty')
  env = { SVC_DATABASE_URL: server.url('svc'), SVC_MASTER_KEY: masterKey, SVC_CONFIG_DIR: folder.path }
  node = await startNode(server.url('svc'), ['--drain', '0'])
})
afterAll(async () => {
  await node.stop('SIGKILL')
  server.stop()
  folder.remove()
})

test('works on the database of SVC_DATABASE_URL, and --data-dir overrides it', async () => {
  const upgrade = await service('migrate')
  expect([upgrade.exit, JSON.parse(upgrade.stdout)]).toEqual([0, { database: server.url('svc') }])
  const planned = await service('migrate --dry-run')
  expect(JSON.parse(planned.stdout)).toMatchObject({ from: newestVersion(), to: newestVersion() })
  const elsewhere = await service(`migrate --data-dir ${join(folder.path, 'none')}`)
  expect([elsewhere.exit, elsewhere.stderr]).toEqual([5, expect.stringContaining('No store found')])
  const empty = await service('backup x.db', { SVC_DATABASE_URL: server.url('empty') })
  expect([empty.exit, empty.stderr]).toEqual([1, expect.stringContaining('The database is empty')])
})

test('blames the file of a backup, not the database, if it cannot be written', async () => {
  const file = join(folder.path, 'nowhere', 'b.db')
  const { exit, stderr } = await service(`backup ${file}`)
  expect(exit).toBe(1)
  expect(stderr).toContain(`The backup could not be written to ${file}`)
})

test('replaces the operator key while a node runs', async () => {
  expect(await statusWith(operator)).toBe(200)
  const key = await resetKey()
  await expect.poll(() => statusWith(operator)).toBe(401)
  expect(await statusWith(key)).toBe(200)
})

test('rotates the signing key while a node runs', async () => {
  const before = await kids()
  const { exit, stdout } = await service('rotate-signing-key')
  expect([exit, JSON.parse(stdout)]).toMatchObject([0, { rotated: true }])
  await expect.poll(async () => (await kids()).length).toBe(before.length + 1)
})

test('a running node continues after a newer svc has upgraded the database, and no other one starts', async () => {
  const api = remote(`${node.origin}/admin/public/api`, await resetKey())
  const create = (slug: string) => api.call('POST', '/organization/create', { body: { name: slug, slug } })
  expect((await create('before')).status).toBe(200)
  await sql(
    'svc',
    `begin; alter table organizations add column motto text; create table later (id bigint);
     update schema_version set version = ${newestVersion() + 1}; commit`,
  )
  for (const slug of ['after', 'later', 'last']) expect((await create(slug)).status).toBe(200)
  expect((await api.call('GET', '/organizations')).body.data).toHaveLength(4)
  const other = await svc('serve --port 0', env)
  expect([other.exit, other.stderr]).toEqual([1, expect.stringContaining('A newer svc wrote this store')])
  await sql(
    'svc',
    `begin; alter table organizations drop column motto; drop table later;
     update schema_version set version = ${newestVersion()}; commit`,
  )
})

test('rotates the master key only when no node runs', async () => {
  const file = join(folder.path, 'new.key')
  writeFileSync(file, `${newKey}\n`, { mode: 0o600 })
  const rotate = `rotate-master-key --new-key-file ${file}`
  await expect.poll(async () => (await service(rotate)).stderr).toContain('Nodes use this database')
  expect(await node.stop()).toBe(0)
  const rotated = await service(rotate)
  expect([rotated.exit, JSON.parse(rotated.stdout)]).toMatchObject([0, { state: 'rotated' }])
  const again = await service(rotate)
  expect(JSON.parse(again.stdout)).toMatchObject({ state: 'unchanged' })
  const old = await svc('serve --port 0', env)
  expect([old.exit, old.stderr]).toEqual([1, expect.stringContaining('after svc service rotate-master-key')])
})
