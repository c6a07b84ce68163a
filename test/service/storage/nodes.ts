import { EventEmitter, once } from 'node:events'
import { beforeEach, describe, expect, test } from 'vitest'
import { auditByService } from '../../../src/service/call/audit.ts'
import type { Db } from '../../../src/service/storage/schema.ts'
import type { NodeMessage } from '../../../src/service/storage/node-message.ts'
import type { Storage } from '../../../src/service/storage/storage.ts'
import { add, clock, openNode, readSlugs, slugs, storage } from './opened-store.ts'

const increment =
  (slug: string) =>
  async (db: Db): Promise<void> => {
    const { name } = await db
      .selectFrom('organizations')
      .where('slug', '=', slug)
      .select('name')
      .executeTakeFirstOrThrow()
    await db
      .updateTable('organizations')
      .set({ name: String(Number(name) + 1) })
      .where('slug', '=', slug)
      .execute()
  }

/** A write that stays open between `began` and `end`. */
const openWrite = (node: Storage, org: number, slug: string) => {
  const gate = new EventEmitter()
  const ended = once(gate, 'end')
  const began = once(gate, 'begin')
  const done = node.write(
    async (db) => {
      await add(db, slug)
      gate.emit('begin')
      await ended
    },
    { org },
  )
  return { began, end: () => gate.emit('end'), done }
}

const audit = (db: Db, org: number, at: string): Promise<unknown> =>
  auditByService({ db }, at, { orgId: org, action: 'createUser', subject: 'test:1' })

const chain = (org: number) =>
  storage.read((db) =>
    db
      .selectFrom('audit')
      .where('org_id', '=', org)
      .orderBy('seq')
      .select(['seq', 'at', 'hash', 'prev_hash'])
      .execute(),
  )

/** Each row follows the one before. */
const isChain = (rows: Awaited<ReturnType<typeof chain>>): boolean =>
  rows.every(
    ({ seq, at, prev_hash }, n) =>
      seq === n + 1 && (n === 0 || (prev_hash === rows[n - 1]!.hash && at >= rows[n - 1]!.at)),
  )

const takeName = (node: Storage, org: number) =>
  node.write(
    async (db) => {
      await db
        .updateTable('organizations')
        .set({ name: `of ${org}` })
        .where('id', '=', org)
        .execute()
      await db.updateTable('organizations').set({ slug: 'wanted' }).where('id', '=', org).execute()
    },
    { org },
  )

const auditBoth = (node: Storage, [org, next]: [number, number]) =>
  node.write(
    async (db) => {
      await audit(db, org, node.now())
      await audit(db, next, node.now())
    },
    { org },
  )

/** The part of the suite in `port.test.ts` that is about several nodes on one store. */
export const describeNodes = (): void => {
  describe('two nodes on one store', () => {
    let other: Storage
    let first: number
    let second: number

    beforeEach(async () => {
      other = await openNode(clock.now)
      await storage.write((db) => add(db, '1'), { org: 0 })
      await storage.write((db) => add(db, '2'), { org: 0 })
      ;[first, second] = (
        await storage.read((db) => db.selectFrom('organizations').select('id').orderBy('id').execute())
      ).map(({ id }) => id) as [number, number]
      await storage.write((db) => db.updateTable('organizations').set({ name: '0' }).execute(), { org: 0 })
    })

    test('lose no change of one organization', async () => {
      await Promise.all(
        Array.from({ length: 60 }, (_, n) => (n % 2 ? storage : other).write(increment('1'), { org: first })),
      )
      const names = await storage.read((db) =>
        db.selectFrom('organizations').select('name').orderBy('id').execute(),
      )
      expect(names).toEqual([{ name: '60' }, { name: '0' }])
    })

    test('give a unique name once, and the other write leaves nothing', async () => {
      const results = await Promise.allSettled([takeName(storage, first), takeName(other, second)])
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const won = results[0].status === 'fulfilled' ? first : second
      const renamed = await storage.read((db) =>
        db.selectFrom('organizations').where('name', '<>', '0').select(['id', 'slug']).execute(),
      )
      expect(renamed).toEqual([{ id: won, slug: 'wanted' }])
    })

    test('write one after the other to one organization', async () => {
      const held = openWrite(storage, first, 'held')
      await held.began
      const seen = other.write(readSlugs, { org: first })
      await other.write(readSlugs, { org: second })
      held.end()
      await held.done
      expect(await seen).toContain('held')
    })

    test('do not wait for each other in different organizations', async () => {
      const held = openWrite(storage, first, 'held')
      await held.began
      expect(await other.write(readSlugs, { org: second })).not.toContain('held')
      held.end()
      await held.done
    })

    test('append to the audit of two organizations, in whichever order', async () => {
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          n % 2 ? auditBoth(storage, [first, second]) : auditBoth(other, [second, first]),
        ),
      )
      for (const org of [first, second]) {
        const rows = await chain(org)
        expect([rows.length, isChain(rows)]).toEqual([20, true])
      }
    })

    test('keep an audit in the order of its times when the clock of one is behind', async () => {
      const late = await openNode(() => new Date(clock.now().getTime() - 3_600_000))
      for (const node of [storage, late, other, late])
        await node.write((db) => audit(db, first, node.now()), { org: first })
      const rows = await chain(first)
      expect([rows.length, isChain(rows)]).toEqual([4, true])
    })

    test('see what the other has committed', async () => {
      const before = storage.revision()
      await other.write((db) => add(db, '3'), { org: 0 })
      expect(storage.revision()).not.toBe(before)
      expect(await slugs()).toEqual(['1', '2', '3'])
    })

    test('tell each other, not themselves, in the order of the messages', async () => {
      const received: NodeMessage[] = []
      const own: NodeMessage[] = []
      const messages = Array.from({ length: 500 }, (_, n) => ({
        kind: 'cancel' as const,
        value: `message ${n}`,
      }))
      storage.subscribe((message) => void received.push(message))
      other.subscribe((message) => void own.push(message))
      for (const message of messages) other.publish(message)
      await expect.poll(() => received.length).toBe(500)
      expect(received).toEqual(messages)
      expect(own).toEqual([])
    })

    test('end what they have begun when they close, and the other goes on', async () => {
      const begun = Array.from({ length: 50 }, (_, n) =>
        other.write((db) => add(db, `begun-${n}`), { org: first }),
      )
      const beside = Array.from({ length: 50 }, (_, n) =>
        storage.write((db) => add(db, `beside-${n}`), { org: first }),
      )
      await other.close()
      await Promise.all([...begun, ...beside])
      await expect(other.write((db) => add(db, 'late'), { org: first })).rejects.toBeInstanceOf(Error)
      expect(await slugs()).toHaveLength(102)
    })
  })
}
