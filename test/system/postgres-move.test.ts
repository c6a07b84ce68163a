import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { moveToDatabase } from '../../src/service/lifecycle/move.ts'
import * as database from '../../src/service/storage/postgres/whole.ts'
import * as embedded from '../../src/service/storage/sqlite/whole.ts'
import { copiedTables, copyStore, sumStore } from '../../src/service/storage/whole-store.ts'
import { createPerson, remote } from '../e2e/person.ts'
import { startService, svc } from '../e2e/processes.ts'
import { fence } from '../service/fixtures.ts'
import { type PostgresServer, startPostgres } from '../service/storage/postgres-server.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { masterKey as otherKey, operator } from './nodes.ts'

const folder = temporaryFolder()
const path = (name: string): string => join(folder.path, name)
const data = path('data')
const source = join(data, 'svc.db')
let server: PostgresServer
let masterKey: string

const emptyDatabase = async (name: string): Promise<string> => {
  const client = new pg.Client({ connectionString: server.url('postgres') })
  await client.connect()
  await client.query(`create database ${name}`)
  await client.end()
  return server.url(name)
}

const urlFile = (name: string, url: string): string => {
  writeFileSync(path(name), `${url}\n`, { mode: 0o600 })
  chmodSync(path(name), 0o600)
  return path(name)
}

const tablesIn = async (url: string): Promise<number> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query("select 1 from pg_tables where schemaname = 'public'")
  await client.end()
  return rows.length
}

/** The tables of which the server has no statistics. */
const tablesWithoutStatistics = async (url: string): Promise<string[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and reltuples < 0`,
  )
  await client.end()
  return rows.map(({ name }) => name)
}

beforeAll(async () => {
  server = await startPostgres({ durable: true })
  const service = await startService(data, operator, ['--dev'])
  const api = remote(service.baseUrl, operator)
  const ada = await createPerson(api, 1)
  await createPerson(api, 2)
  const env = { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: operator, SVC_CONFIG_DIR: path('config') }
  await svc(['approve', 'submit', 'Deploy', '--org', ada.org.slug, '--to', ada.mobile], env)
  await ada.answer()
  // The highest id is of a row that is gone, and is never assigned again.
  const { body } = await api.call('POST', `/organization/${ada.org.id}/create/geo-fence`, { body: fence })
  await api.call('DELETE', `/organization/${ada.org.id}/delete/geo-fence/${body.data.id}`)
  await service.stop()
  masterKey = readFileSync(join(data, 'master.key'), 'utf8').trim()
})
afterAll(() => {
  server.stop()
  folder.remove()
})

describe('a move that is interrupted', () => {
  test('leaves the folder as it was and the database empty, at every table', async () => {
    const url = await emptyDatabase('interrupted')
    const before = await embedded.readWhole(source, sumStore)
    for (const table of copiedTables) {
      const report = (line: string): void => {
        if (line.startsWith(`${table}:`)) throw new Error('interrupted')
      }
      await expect(moveToDatabase(data, url, {}, report)).rejects.toMatchObject({ detail: 'interrupted' })
      expect(await tablesIn(url)).toBe(0)
    }
    expect(await embedded.readWhole(source, sumStore)).toEqual(before)
  })

  test('between the copy and the mark is finished by the same command', async () => {
    const copy = path('copy-of-data')
    await svc(['service', 'backup', path('before.db'), '--data-dir', data])
    expect((await svc(['service', 'restore', path('before.db'), '--data-dir', copy])).exit).toBe(0)
    const url = await emptyDatabase('unmarked')
    const from = join(copy, 'svc.db')
    await embedded.readWhole(from, (store) => database.createWhole(url, (to) => copyStore(store, to)))
    expect(await moveToDatabase(copy, url, {}, () => undefined)).toMatchObject({ state: 'finished' })
    await expect(moveToDatabase(copy, url, {}, () => undefined)).rejects.toMatchObject({
      code: 'store_moved',
    })
  })
})

test('refuses a database that contains another store, and changes nothing', async () => {
  const url = await emptyDatabase('occupied')
  await database.migrateDatabase(url)
  const file = urlFile('occupied.url', url)
  const move = ['service', 'migrate', '--data-dir', data, '--to-database-url-file', file]
  for (const line of [move, [...move, '--dry-run']]) {
    const { exit, stderr } = await svc(line)
    expect([exit, stderr]).toEqual([1, expect.stringContaining('already contains a store')])
  }
})

test('moves a folder into a database and back, with every table equal', async () => {
  const url = await emptyDatabase('moved')
  const file = urlFile('moved.url', url)
  const before = await embedded.readWhole(source, sumStore)
  const move = ['service', 'migrate', '--data-dir', data, '--to-database-url-file', file, '-o', 'json']
  const dry = await svc([...move, '--dry-run'])
  expect([dry.exit, JSON.parse(dry.stdout)]).toMatchObject([0, { data_dir: data }])
  expect(await tablesIn(url)).toBe(0)

  const moved = await svc(move)
  expect([moved.exit, JSON.parse(moved.stdout)]).toMatchObject([0, { state: 'moved', chains: 3 }])
  expect(moved.stderr).toContain('master.key')
  expect(await database.readWhole(url, sumStore)).toEqual(before)
  expect(await tablesWithoutStatistics(url)).toEqual([])

  const old = await svc(['serve', '--port', '0', '--data-dir', data, '--no-profile'])
  expect([old.exit, old.stderr]).toEqual([1, expect.stringContaining('was moved to postgres://svc@')])

  const backup = path('from-database.db')
  const written = await svc(['service', 'backup', backup, '--database-url-file', file])
  expect(written).toMatchObject({ exit: 0, stdout: expect.stringContaining('postgres://svc@') })
  expect(existsSync(`${backup}.partial`)).toBe(false)
  expect(await embedded.readWhole(backup, sumStore)).toEqual(before)

  const back = path('back')
  const env = { SVC_MASTER_KEY: masterKey }
  expect((await svc(['service', 'restore', backup, '--data-dir', back], env)).exit).toBe(0)
  const service = await startService(back, operator, ['--dev'], env)
  const { status, body } = await remote(service.baseUrl, operator).call('GET', '/organizations')
  expect([status, body.data.length]).toEqual([200, 2])
  expect(await service.stop()).toBe(0)

  const wrong = await emptyDatabase('restored')
  const into = urlFile('restored.url', wrong)
  const restore = ['service', 'restore', backup, '--database-url-file', into]
  const keyless = await svc(restore)
  expect([keyless.exit, keyless.stderr]).toEqual([2, expect.stringContaining('requires SVC_MASTER_KEY')])
  const refused = await svc(restore, { SVC_MASTER_KEY: otherKey })
  expect([refused.exit, refused.stderr]).toEqual([
    1,
    expect.stringContaining('not the master key of this backup'),
  ])
  expect(await tablesIn(wrong)).toBe(0)
  expect((await svc(restore, env)).exit).toBe(0)
  expect(await tablesWithoutStatistics(wrong)).toEqual([])
  const again = await svc(restore, env)
  expect([again.exit, again.stderr]).toEqual([1, expect.stringContaining('already contains a store')])
})
