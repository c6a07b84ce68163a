import { EventEmitter, once } from 'node:events'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Refusal } from '../../../../src/core/refusal.ts'
import { auditByService } from '../../../../src/service/call/audit.ts'
import { openPostgres } from '../../../../src/service/storage/postgres/open.ts'
import type { Db } from '../../../../src/service/storage/schema.ts'
import type { Storage } from '../../../../src/service/storage/storage.ts'
import { lockNumbers, RunAgain } from '../../../../src/service/storage/transaction.ts'
import { copyDatabase, databaseUrl, dropDatabase } from '../postgres-databases.ts'

const at = '2030-01-31T12:00:00.000Z'
const [x, a, b, c] = [1, 2, 3, 4] as const

let database: string
/** Has two connections for writes. */
let storage: Storage
let other: Storage
let third: Storage

beforeEach(async () => {
  database = await copyDatabase('svc_template')
  const url = databaseUrl(database)
  storage = await openPostgres({ url, connections: 4 })
  other = await openPostgres({ url })
  third = await openPostgres({ url })
})
afterEach(async () => {
  for (const { end } of opened) end()
  await Promise.allSettled(opened.splice(0).map(({ done }) => done))
  await Promise.all([storage, other, third].map((node) => node.close()))
  await dropDatabase(database)
})

type OpenWrite = { began: Promise<unknown>; end(): void; done: Promise<unknown> }

const opened: OpenWrite[] = []

/** A write that stays open between `began` and `end`. */
const openWrite = (
  node: Storage,
  org: number,
  first: (db: Db) => Promise<unknown> = async () => undefined,
): OpenWrite => {
  const gate = new EventEmitter()
  const ended = once(gate, 'end')
  const began = once(gate, 'begin')
  const done = node.write(
    async (db) => {
      await first(db)
      gate.emit('begin')
      await ended
    },
    { org },
  )
  const write = { began, end: () => void gate.emit('end'), done }
  opened.push(write)
  return write
}

/** Keeps both connections of `storage` busy while `queue` starts writes, so that they share transactions. */
const together = async <T>(queue: () => T): Promise<T> => {
  const writes = [101, 102].map((org) => openWrite(storage, org))
  await Promise.all(writes.map(({ began }) => began))
  const queued = queue()
  for (const { end } of writes) end()
  return queued
}

const change = (name: string, org: number, node = storage) =>
  node.write(
    async (db: Db) => {
      await db.insertInto('settings').values({ name, value: '' }).execute()
      await auditByService({ db }, at, { orgId: org, action: 'createUser', subject: name })
    },
    { org },
  )

const names = async (): Promise<string[]> =>
  (await other.read((db) => db.selectFrom('settings').select('name').orderBy('name').execute())).map(
    ({ name }) => name,
  )

/** The audit refuses a row after its statement was sent. */
const refuseLate = () =>
  other.write(
    async (db) => {
      await sql
        .raw(`create function refuse() returns trigger language plpgsql as
          $$ begin if new.subject = 'late' then raise exception 'no'; end if; return new; end $$`)
        .execute(db)
      await sql
        .raw('create trigger refuse before insert on audit for each row execute function refuse()')
        .execute(db)
    },
    { org: null },
  )

test('a write that was refused is not made when a later one fails after its end', async () => {
  await refuseLate()
  let runs = 0
  const { results } = await together(() => ({
    results: Promise.allSettled([
      storage.write(
        async (db) => {
          runs += 1
          if (runs === 1) throw new Refusal(409, 'conflict', 'Not now')
          await db.insertInto('settings').values({ name: 'refused', value: '' }).execute()
        },
        { org: a },
      ),
      change('late', a),
      change('good', a),
    ]),
  }))
  const [refused, late, good] = await results
  const made = await names()
  expect([late!.status, good!.status]).toEqual(['rejected', 'fulfilled'])
  expect(made).toContain('good')
  expect(made.includes('refused')).toBe(refused!.status === 'fulfilled')
})

test('a write that begins when the one before ends is not missed', async () => {
  const narrow = await openPostgres({ url: databaseUrl(database), connections: 2 })
  const written: number[] = []
  const run = async () => {
    for (let n = 0; n < 20; n++) {
      await narrow.write(() => Promise.resolve(), { org: a })
      written.push(n)
    }
  }
  const running = run()
  try {
    await expect.poll(() => written.length).toBe(20)
  } finally {
    // Each write that is missed begins with the next one.
    while (written.length < 20) await narrow.write(() => Promise.resolve(), { org: b })
    await running
    await narrow.close()
  }
})

test('an organization that other nodes keep locked gets its turn', async () => {
  const narrow = await openPostgres({ url: databaseUrl(database), connections: 2 })
  const over = new AbortController()
  const neighbours = new EventEmitter()
  let count = 0
  const keep = async (node: Storage, org: number) => {
    while (!over.signal.aborted) {
      await node.write((db) => sql`select pg_sleep(0.005)::text`.execute(db), { org })
      if (node === narrow) neighbours.emit(String((count += 1)))
    }
  }
  const began = once(neighbours, '5')
  const passed = once(neighbours, '155')
  // Several each, so that one always waits.
  const load = [
    ...[narrow, narrow, narrow].map((node) => keep(node, a)),
    ...[other, third, other, third].map((node) => keep(node, x)),
  ]
  await began
  const written = change('x', x, narrow).then(() => 'written')
  const first = await Promise.race([written, passed])
  over.abort()
  await Promise.all([...load, written])
  await narrow.close()
  expect(first).toBe('written')
})

test('an organization that another node keeps locked does not delay the others', async () => {
  const held = openWrite(other, x)
  await held.began
  const { stuck, rest } = await together(() => ({
    stuck: change('x', x),
    rest: Promise.all([change('a', a), change('b', b), change('c', c)]),
  }))
  expect(await Promise.race([stuck.then(() => 'the held one'), rest.then(() => 'the others')])).toBe(
    'the others',
  )
  held.end()
  await Promise.all([held.done, stuck])
})

const mobile = '+12025550101'
const changePerson = (name: string, org: number) =>
  storage.write(
    async (db) => {
      await lockNumbers(db, [mobile])
      await db.insertInto('settings').values({ name, value: '' }).execute()
    },
    { org },
  )

test('a person that another node keeps locked does not delay the others', async () => {
  const held = openWrite(other, 9, (db) => lockNumbers(db, [mobile]))
  await held.began
  const { stuck, rest } = await together(() => ({
    stuck: changePerson('x', x),
    rest: Promise.all([change('a', a), change('b', b), change('c', c)]),
  }))
  expect(await Promise.race([stuck.then(() => 'the held one'), rest.then(() => 'the others')])).toBe(
    'the others',
  )
  held.end()
  await Promise.all([held.done, stuck])
})

const readValue = async (db: Db) =>
  (await db.selectFrom('settings').where('name', '=', 'revoked').select('name').execute()).length

test('a write that waited for others in its transaction starts from what is committed', async () => {
  const slow = { gate: new EventEmitter() }
  const ended = once(slow.gate, 'end')
  const began = once(slow.gate, 'begin')
  const { seen } = await together(() => ({
    seen: [x, a, b, c].map((org) =>
      storage.write(
        async (db, opened: number) => {
          if (org === x) {
            await sql`select pg_sleep(0.15)::text`.execute(db)
            slow.gate.emit('begin')
            await ended
          }
          return { opened, now: await readValue(db) }
        },
        { org, opening: readValue },
      ),
    ),
  }))
  await began
  await change('revoked', 0, other)
  slow.gate.emit('end')
  for (const { opened, now } of (await Promise.all(seen)).slice(1)) expect(opened).toBe(now)
})

test('a write that others overtake each time is refused as unavailable', async () => {
  const overtaken = storage.write(() => Promise.reject(new RunAgain()), { org: a })
  await expect(overtaken).rejects.toMatchObject({ status: 503, code: 'storage_unavailable' })
})
