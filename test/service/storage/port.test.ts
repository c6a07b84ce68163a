import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newestVersion } from '../../../src/service/storage/migrations.ts'
import type { Db } from '../../../src/service/storage/schema.ts'
import { statement } from '../../../src/service/storage/statement.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { createClock } from '../clock.ts'
import { engines, type OpenedEngine } from './engines.ts'

const at = '2030-01-31T12:00:00.000Z'

const add = async (db: Db, slug: string): Promise<number> => {
  const { id } = await db
    .insertInto('organizations')
    .values({ name: slug, slug, policy: '{}', created_at: at, updated_at: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
const readSlugs = async (db: Db): Promise<string[]> =>
  (await db.selectFrom('organizations').select('slug').orderBy('id').execute()).map(({ slug }) => slug)

const org = 0

const addOnce = (db: Db) =>
  db
    .insertInto('organizations')
    .values({ name: 'a', slug: 'a', policy: '{}', created_at: at, updated_at: at })
    .onConflict((on) => on.column('slug').doNothing())
    .returning('id')
    .execute()

const count = async (db: Db): Promise<number> =>
  Number((await db.selectFrom('organizations').select('name').executeTakeFirstOrThrow()).name) || 0

// What the service relies on, and nothing that only one engine has: that is tested beside the engine.
describe.each(engines)('the $name store', ({ open }) => {
  const clock = createClock(at)
  let engine: OpenedEngine
  let storage: Storage
  beforeEach(async () => {
    engine = await open(clock.now)
    storage = engine.storage
  })
  afterEach(() => engine.remove())
  const slugs = () => storage.read(readSlugs)

  describe('a write', () => {
    test('returns the result of its work, which is then readable', async () => {
      const id = await storage.write((db) => add(db, 'a'), { org })
      expect(id).toBeGreaterThan(0)
      expect(await slugs()).toEqual(['a'])
    })

    test('reads what it wrote itself, before it is committed', async () => {
      const seen = await storage.write(
        async (db) => {
          await add(db, 'a')
          return readSlugs(db)
        },
        { org },
      )
      expect(seen).toEqual(['a'])
    })

    test('is seen by others only once it is committed', async () => {
      const gate = new EventEmitter()
      const finished = once(gate, 'finish')
      const started = once(gate, 'start')
      const writing = storage.write(
        async (db) => {
          await add(db, 'later')
          gate.emit('start')
          await finished
        },
        { org },
      )
      await started
      expect(await slugs()).toEqual([])
      gate.emit('finish')
      await writing
      expect(await slugs()).toEqual(['later'])
    })

    test('leaves nothing when its work fails, and fails with the very same error', async () => {
      const error = new Error('no')
      const failing = storage.write(
        async (db) => {
          await add(db, 'lost')
          throw error
        },
        { org },
      )
      await expect(failing).rejects.toBe(error)
      expect(await slugs()).toEqual([])
    })

    test('can run again after it was undone', async () => {
      let attempts = 0
      const work = async (db: Db): Promise<string[]> => {
        await add(db, 'a')
        attempts += 1
        if (attempts === 1) throw new Error('again')
        return readSlugs(db)
      }
      await expect(storage.write(work, { org })).rejects.toThrow('again')
      expect(await storage.write(work, { org })).toEqual(['a'])
    })

    test('must name an organization', async () => {
      for (const wrong of [undefined, null, -1, 1.5])
        await expect(storage.write((db) => add(db, 'a'), { org: wrong as number })).rejects.toThrow(
          'names no organization',
        )
      expect(await slugs()).toEqual([])
    })

    test('that was asked for is done before the store is closed', async () => {
      const writing = storage.write((db) => add(db, 'asked'), { org })
      storage = await engine.reopen()
      await writing
      expect(await slugs()).toEqual(['asked'])
    })

    test('that comes after the store was closed fails, and ends no process', async () => {
      const closed = storage
      storage = await engine.reopen()
      await expect(closed.write((db) => add(db, 'late'), { org })).rejects.toBeInstanceOf(Error)
      await expect(closed.read(readSlugs)).rejects.toBeInstanceOf(Error)
      expect(await slugs()).toEqual([])
    })
  })

  describe('writes that wait together', () => {
    test('fail alone: the others are committed', async () => {
      const results = await Promise.allSettled([
        storage.write((db) => add(db, 'first'), { org }),
        storage.write(
          async (db) => {
            await add(db, 'lost')
            throw new Error('no')
          },
          { org },
        ),
        storage.write((db) => add(db, 'last'), { org }),
      ])
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(await slugs()).toEqual(['first', 'last'])
    })

    test('do not lose each other’s changes in one organization', async () => {
      await storage.write(async (db) => void (await add(db, 'counter')), { org })
      await Promise.all(
        Array.from({ length: 40 }, () =>
          storage.write(
            async (db) => {
              const name = String((await count(db)) + 1)
              await db.updateTable('organizations').set({ name }).execute()
            },
            { org: 1 },
          ),
        ),
      )
      expect(await storage.read(count)).toBe(40)
    })

    test('are all kept', async () => {
      await Promise.all(
        Array.from({ length: 50 }, (_, n) => storage.write((db) => add(db, `o-${n}`), { org })),
      )
      expect(await slugs()).toHaveLength(50)
    })
  })

  describe('a constraint', () => {
    test('that is broken is an error of the write, and no sign that the store is down', async () => {
      await storage.write((db) => add(db, 'a'), { org })
      const orphan = { name: 'x', latitude: 1, longitude: 2, radius: 3, is_active: 1 as const }
      const broken: ((db: Db) => Promise<unknown>)[] = [
        (db) => add(db, 'a'),
        (db) =>
          db
            .insertInto('geofences')
            .values({ org_id: 77, ...orphan, created_at: at, updated_at: at })
            .execute(),
      ]
      for (const work of broken) {
        const error: unknown = await storage.write(work, { org }).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(Error)
        expect(error).not.toHaveProperty('status')
      }
      expect(await storage.canWrite()).toBe(true)
      expect(await slugs()).toEqual(['a'])
    })

    test('that ON CONFLICT handles is not an error', async () => {
      expect(await storage.write(addOnce, { org })).toHaveLength(1)
      expect(await storage.write(addOnce, { org })).toHaveLength(0)
    })

    test('deletes the rows that refer to a deleted row', async () => {
      const id = await storage.write((db) => add(db, 'a'), { org })
      const fence = { name: 'x', latitude: 1, longitude: 2, radius: 3, is_active: 1 as const }
      const row = { org_id: id, ...fence, created_at: at, updated_at: at }
      await storage.write((db) => db.insertInto('geofences').values(row).execute(), { org: id })
      await storage.write((db) => db.deleteFrom('organizations').execute(), { org: id })
      expect(await storage.read((db) => db.selectFrom('geofences').selectAll().execute())).toEqual([])
    })
  })

  test('never assigns the id of a deleted row again', async () => {
    const first = await storage.write((db) => add(db, 'a'), { org })
    await storage.write((db) => db.deleteFrom('organizations').execute(), { org })
    expect(await storage.write((db) => add(db, 'b'), { org })).toBeGreaterThan(first)
  })

  test('nothing is written through a read', async () => {
    await expect(storage.read((db) => add(db, 'sneaky'))).rejects.toBeInstanceOf(Error)
    expect(await slugs()).toEqual([])
  })

  test('a value that is undefined is refused', async () => {
    const insert = statement((db: Db, { name }: { name: string }) =>
      db.insertInto('settings').values({ name, value: 'x' }),
    )
    await expect(
      storage.write((db) => insert(db, { name: undefined as never }), { org }),
    ).rejects.toBeInstanceOf(Error)
  })

  test('a statement that is built once runs with other values and reports how many rows it changed', async () => {
    const rename = statement((db: Db, { from, to }: { from: string; to: string }) =>
      db.updateTable('organizations').set({ name: to }).where('slug', '=', from),
    )
    await storage.write((db) => add(db, 'a'), { org })
    await storage.write((db) => add(db, 'b'), { org })
    const changed = await storage.write(
      async (db) => [
        (await rename(db, { from: 'a', to: 'A' })).numAffectedRows,
        (await rename(db, { from: 'none', to: 'B' })).numAffectedRows,
      ],
      { org },
    )
    expect(changed).toEqual([1n, 0n])
    const names = await storage.read((db) =>
      db.selectFrom('organizations').select('name').orderBy('id').execute(),
    )
    expect(names).toEqual([{ name: 'A' }, { name: 'b' }])
  })

  test('the revision changes with each write that is committed, and not with a read', async () => {
    const revisions = [storage.revision()]
    for (const slug of ['a', 'b']) {
      await storage.write((db) => add(db, slug), { org })
      revisions.push(storage.revision())
    }
    expect(new Set(revisions).size).toBe(3)
    await slugs()
    expect(storage.revision()).toBe(revisions.at(-1))
  })

  test('the clock is ISO 8601 in UTC with milliseconds, and advances', () => {
    expect(storage.now()).toBe(clock.iso())
    clock.tick(1)
    expect(storage.now()).toBe('2030-01-31T12:00:00.001Z')
  })

  test('a store that was opened again has its rows and its schema', async () => {
    await storage.write((db) => add(db, 'a'), { org })
    storage = await engine.reopen()
    expect(await slugs()).toEqual(['a'])
    const versions = await storage.read((db) => db.selectFrom('schema_version').selectAll().execute())
    expect(versions).toEqual([{ version: newestVersion }])
  })

  test('a store that a newer svc wrote is refused', async () => {
    await storage.write((db) => db.updateTable('schema_version').set({ version: 99 }).execute(), { org })
    await expect(engine.reopen()).rejects.toMatchObject({ name: 'SvcError', code: 'store_too_new' })
  })
})
