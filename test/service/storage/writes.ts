import { EventEmitter, once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Db } from '../../../src/service/storage/schema.ts'
import { add, org, readSlugs, reopen, slugs, storage } from './opened-store.ts'

const count = async (db: Db): Promise<number> =>
  Number((await db.selectFrom('organizations').select('name').executeTakeFirstOrThrow()).name) || 0

/** The part of the suite in `port.test.ts` that is about writes. */
export const describeWrites = (): void => {
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
      for (const wrong of [undefined, -1, 1.5])
        await expect(storage.write((db) => add(db, 'a'), { org: wrong as number })).rejects.toThrow(
          'names no organization',
        )
      expect(await slugs()).toEqual([])
    })

    test('that has begun is done before the store is closed', async () => {
      const writing = storage.write((db) => add(db, 'begun'), { org })
      await reopen()
      await writing
      expect(await slugs()).toEqual(['begun'])
    })

    test('that comes after the store was closed fails, and ends no process', async () => {
      const closed = storage
      await reopen()
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
}
