import { describe, expect, test } from 'vitest'
import { newestVersion } from '../../../src/service/storage/migrations.ts'
import type { Db } from '../../../src/service/storage/schema.ts'
import { statement } from '../../../src/service/storage/statement.ts'
import { engines } from './engines.ts'
import { describeNodes } from './nodes.ts'
import { add, at, clock, installHooks, org, reopen, slugs, storage } from './opened-store.ts'
import { describeWrites } from './writes.ts'

const addOnce = (db: Db) =>
  db
    .insertInto('organizations')
    .values({ name: 'a', slug: 'a', policy: '{}', created_at: at, updated_at: at })
    .onConflict((on) => on.column('slug').doNothing())
    .returning('id')
    .execute()

// What the service relies on, and nothing that only one engine has: that is tested beside the engine.
const countLasting = (): Promise<number[]> =>
  storage.read(async (db) => [
    (await db.selectFrom('devices').select('id').execute()).length,
    (await db.selectFrom('mutes').select('key_id').execute()).length,
  ])

describe.each(engines)('the $name store', (engine) => {
  installHooks(engine)
  describeWrites()
  if (engine.shared) describeNodes()

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
      expect(await storage.problem()).toBeUndefined()
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

  test('the revision changes with each write that is committed, and with a read only if other nodes can write', async () => {
    const revisions = [storage.revision()]
    for (const slug of ['a', 'b']) {
      await storage.write((db) => add(db, slug), { org })
      revisions.push(storage.revision())
    }
    expect(new Set(revisions).size).toBe(3)
    await slugs()
    expect(storage.revision() === revisions.at(-1)).toBe(!storage.shared)
  })

  test('the clock is ISO 8601 in UTC with milliseconds, and advances', () => {
    expect(storage.now()).toBe(clock.iso())
    clock.tick(1)
    expect(storage.now()).toBe(clock.iso())
    expect(storage.now()).toMatch(/^2030-01-31T12:00:00\.\d{3}Z$/)
  })

  test('devices and mutes outlive a membership, and end with the organization', async () => {
    const times = { created_at: at, updated_at: at }
    const names = { email: '', first_name: 'Ada', last_name: 'Lovelace', look_alike: '' }
    const device = {
      name: 'Pixel',
      kind: 'phone',
      credential_id: 'c',
      public_key: 'k',
      algorithm: -7,
      user_handle: 'h',
      counter: 0,
      state: 'active',
      proof: 'link',
      registered_at: at,
    } as const
    await storage.write(
      async (db) => {
        const org_id = await add(db, 'a')
        const person = { mobile: '+12025550101', national: '2025550101', country_code: '+1', created_at: at }
        const { id: user_id } = await db
          .insertInto('people')
          .values(person)
          .returning('id')
          .executeTakeFirstOrThrow()
        await db
          .insertInto('memberships')
          .values({ org_id, user_id, ...names, role: 'admin', state: 'active', ...times })
          .execute()
        await db
          .insertInto('devices')
          .values({ org_id, user_id, ...device })
          .execute()
        await db.insertInto('mutes').values({ org_id, user_id, key_id: 2, agent: '', until: at }).execute()
        await db.deleteFrom('memberships').execute()
      },
      { org },
    )
    expect(await countLasting()).toEqual([1, 1])
    await storage.write((db) => db.deleteFrom('organizations').execute(), { org })
    expect(await countLasting()).toEqual([0, 0])
  })

  test('a store that was opened again has its rows and its schema', async () => {
    await storage.write((db) => add(db, 'a'), { org })
    await reopen()
    expect(await slugs()).toEqual(['a'])
    const versions = await storage.read((db) => db.selectFrom('schema_version').selectAll().execute())
    expect(versions).toEqual([{ version: newestVersion() }])
  })

  test('a store that a newer svc wrote is refused', async () => {
    await storage.write((db) => db.updateTable('schema_version').set({ version: 99 }).execute(), { org })
    await expect(reopen()).rejects.toMatchObject({ name: 'SvcError', code: 'store_too_new' })
  })
})
