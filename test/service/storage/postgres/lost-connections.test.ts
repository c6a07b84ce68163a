import { EventEmitter, once } from 'node:events'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditByService } from '../../../../src/service/call/audit.ts'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import { lost, type NodeMessage } from '../../../../src/service/storage/node-message.ts'
import type { Db } from '../../../../src/service/storage/schema.ts'
import type { Storage } from '../../../../src/service/storage/storage.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'
import { type Proxy, startProxy } from './cut-connections.ts'

const [one, two] = ['one', 'two'].map((value): NodeMessage => ({ kind: 'cancel', value })) as [
  NodeMessage,
  NodeMessage,
]

const at = '2030-01-31T12:00:00.000Z'

let database: string
let proxy: Proxy
let storage: Storage
let direct: Storage

beforeEach(async () => {
  database = await copyDatabase('template0')
  direct = await openPostgres({ url: databaseUrl(database) })
  proxy = await startProxy(databaseUrl(database))
  storage = await openPostgres({ url: proxy.url, resolveMs: 1_000 })
})
afterEach(async () => {
  proxy.open()
  await storage.close()
  await direct.close()
  proxy.stop()
  await dropDatabase(database)
})

const change = (name: string, org = 1) =>
  storage.write(
    async (db: Db) => {
      await db.insertInto('settings').values({ name, value: '' }).execute()
      await auditByService({ db }, at, { orgId: org, action: 'createUser', subject: name })
    },
    { org },
  )

const run = (text: string) => direct.write((db) => sql.raw(text).execute(db), { org: null })

const names = async (): Promise<string[]> =>
  (await direct.read((db) => db.selectFrom('settings').select('name').orderBy('name').execute())).map(
    ({ name }) => name,
  )

const appendToBoth = (first: number, second: number, from: Storage) =>
  from.write(
    async (db) => {
      await auditByService({ db }, at, { orgId: first, action: 'createUser', subject: 'x' })
      await auditByService({ db }, at, { orgId: second, action: 'createUser', subject: 'x' })
    },
    { org: first },
  )

/** A write that stays open until `end`. */
const openWrite = async (node: Storage, org: number) => {
  const gate = new EventEmitter()
  const ended = once(gate, 'end')
  const began = once(gate, 'begin')
  const done = node.write(
    async () => {
      gate.emit('begin')
      await ended
    },
    { org },
  )
  await began
  return { done, end: () => void gate.emit('end') }
}

const readAll = () => storage.read((db) => db.selectFrom('settings').selectAll().execute())
const readAllInWrite = () =>
  storage.write((db) => db.selectFrom('settings').selectAll().execute(), { org: 1 })

describe('a connection that is lost', () => {
  test('before the commit arrives: the write fails, and nothing was changed', async () => {
    for (const name of ['a', 'b', 'c']) {
      proxy.cutAt('commit', { forward: false })
      await expect(change(name)).rejects.toMatchObject({ status: 503, code: 'storage_unavailable' })
    }
    expect(await names()).toEqual([])
    await change('d')
    expect(await names()).toEqual(['d'])
  })

  test('before the answer to the commit arrives: the write succeeds, because its audit row is there', async () => {
    for (const name of ['a', 'b', 'c']) {
      proxy.cutAt('commit', { forward: true })
      await change(name)
    }
    expect(await names()).toEqual(['a', 'b', 'c'])
  })

  test('before the answer arrives, with other writes of the organization in between, still shows what happened', async () => {
    proxy.cutAt('commit', { forward: true })
    const written = Promise.all([change('a'), change('b'), change('c')])
    const other = direct.write(
      (db) => auditByService({ db }, at, { orgId: 1, action: 'deleteUser', subject: 'x' }),
      {
        org: 1,
      },
    )
    await Promise.all([written, other])
    expect(await names()).toEqual(['a', 'b', 'c'])
  })

  test('during a statement: the write fails, and the next one works', async () => {
    proxy.cutAt('settings', { forward: true })
    await expect(change('a')).rejects.toMatchObject({ status: 503, code: 'storage_unavailable' })
    await change('b')
    expect(await names()).toEqual(['b'])
  })

  test('without a database to ask: the outcome is unknown, and the error says so', async () => {
    proxy.cutAt('commit', { forward: true, close: true })
    await expect(change('a')).rejects.toMatchObject({ status: 503, code: 'outcome_unknown' })
    expect(await names()).toEqual(['a'])
  })

  test('of a shared transaction: the outcome is unknown only of the writes that were in it', async () => {
    // One connection for writes, so that the writes that wait for `first` share a transaction.
    const narrow = await openPostgres({ url: proxy.url, connections: 2, resolveMs: 300 })
    const elsewhere = await openWrite(direct, 2)
    const first = await openWrite(narrow, 3)
    const append = (org: number, begin = (): void => undefined) =>
      narrow.write(
        (db) => {
          begin()
          return auditByService({ db }, at, { orgId: org, action: 'createUser', subject: 'x' })
        },
        { org },
      )
    const written = Promise.allSettled([
      append(1, () => proxy.cutAt('commit', { forward: true, close: true })),
      append(2),
    ])
    first.end()
    expect(await written).toMatchObject([
      { reason: { code: 'outcome_unknown' } },
      { reason: { code: 'storage_unavailable' } },
    ])
    elsewhere.end()
    await Promise.all([first.done, elsewhere.done])
    proxy.open()
    await narrow.close()
  })

  test('of the messages between nodes: is opened again, and everybody is told that some may be lost', async () => {
    const received: NodeMessage[] = []
    storage.subscribe((message) => received.push(message))
    direct.publish(one)
    await expect.poll(() => received).toEqual([one])
    proxy.close()
    proxy.open()
    await expect.poll(() => received).toEqual([one, lost])
    direct.publish(two)
    await expect.poll(() => received).toEqual([one, lost, two])
  })
})

describe('two writes that lock two organizations in a different order', () => {
  test('both succeed', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        n % 2 === 0 ? appendToBoth(1, 2, storage) : appendToBoth(2, 1, direct),
      ),
    )
    const rows = await direct.read((db) =>
      db.selectFrom('audit').select(['org_id', 'seq']).orderBy('org_id').orderBy('seq').execute(),
    )
    expect(rows.filter(({ org_id }) => org_id === 1).map(({ seq }) => seq)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ])
    expect(rows.filter(({ org_id }) => org_id === 2)).toHaveLength(10)
  })
})

test('a schema that a newer node has upgraded does not disturb prepared statements', async () => {
  await change('a')
  expect(await readAll()).toHaveLength(1)
  await direct.write((db) => db.schema.alterTable('settings').addColumn('more', 'text').execute(), { org: 0 })
  expect(await readAll()).toHaveLength(1)
  expect(await readAllInWrite()).toHaveLength(1)
  await direct.write((db) => db.schema.alterTable('settings').addColumn('most', 'text').execute(), { org: 0 })
  expect(await readAllInWrite()).toHaveLength(1)
})

const warnAt = async (when: string) => {
  await run(`create function warn() returns trigger language plpgsql as
    $$ begin raise warning 'not replicated'; return new; end $$`)
  await run(
    `create constraint trigger warn after insert on settings ${when} for each row execute function warn()`,
  )
}

describe('a warning of the server', () => {
  test('with the answer to a commit makes the outcome unknown', async () => {
    await warnAt('deferrable initially deferred')
    await expect(change('a')).rejects.toMatchObject({ status: 503, code: 'outcome_unknown' })
    expect(await names()).toEqual(['a'])
  })

  test('with the answer to another statement means nothing', async () => {
    await warnAt('not deferrable')
    await change('a')
    expect(await names()).toEqual(['a'])
  })
})

test.each(['junk', '{"from":"x"}', '{"from":"x","messages":[{"kind":"wake","value":{"org_id":"1"}}]}'])(
  'a message that is none of ours only makes the nodes look: %s',
  async (payload) => {
    const received: NodeMessage[] = []
    storage.subscribe((message) => received.push(message))
    await run(`select pg_notify('svc', '${payload}')`)
    await expect.poll(() => received).toEqual([lost])
    direct.publish(one)
    await expect.poll(() => received).toEqual([lost, one])
  },
)

const slow = (db: Db) => sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.02)`.execute(db)

test('writes for which a transaction has no time use the same connection afterwards', async () => {
  const results = await Promise.all(Array.from({ length: 6 }, () => direct.write(slow, { org: 1 })))
  expect(new Set(results.map(({ rows }) => rows[0]!.pid)).size).toBe(1)
})
