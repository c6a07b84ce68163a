import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClaims } from '../../../src/service/limits/claims.ts'
import { createTenant, fence } from '../fixtures.ts'
import { startTestService, type TestService } from '../harness.ts'

let service: TestService
let org: number
beforeAll(async () => {
  service = await startTestService()
  org = (await createTenant(service, 'acme')).id
})
afterAll(() => service.close())

const undone = new Error('undone')

type Step = { kind: 'add' | 'add and undo' | 'remove' | 'limit'; count: number }

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('add', 'add', 'add', 'add and undo', 'remove', 'limit'),
  count: fc.integer({ min: 1, max: 4 }),
})

test('allow exactly what fits, whatever was added, undone, removed or limited before', async () => {
  const { storage } = service
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      await storage.write(
        async (db) => {
          await db.deleteFrom('geofences').execute()
          await db.deleteFrom('organization_limits').execute()
        },
        { org: 0 },
      )
      const claim = createClaims()
      let limit = 20_000
      let rows = 0
      const outcomes: [found: string, wanted: string][] = []
      const add = (count: number, undo: boolean): Promise<string> =>
        storage
          .write(
            async (db) => {
              const times = { created_at: 'x', updated_at: 'x' }
              for (let i = 0; i < count; i++)
                await db
                  .insertInto('geofences')
                  .values({ ...fence, is_active: 1, org_id: org, ...times })
                  .execute()
              await claim({ db, now: storage.now() }, org, 'geofences', count)
              if (undo) throw undone
            },
            { org: 0 },
          )
          .then(
            () => 'done',
            (error: { code?: string }) => error.code ?? 'undone',
          )
      for (const { kind, count } of steps) {
        if (kind === 'limit') {
          limit = count * 3
          const value = String(limit)
          await storage.write(
            (db) =>
              db
                .insertInto('organization_limits')
                .values({ org_id: org, name: 'geofences', value })
                .onConflict((on) => on.columns(['org_id', 'name']).doUpdateSet({ value }))
                .execute(),
            { org: 0 },
          )
        } else if (kind === 'remove') {
          const gone = await storage.write(
            (db) =>
              db
                .deleteFrom('geofences')
                .where('id', 'in', (query) => query.selectFrom('geofences').select('id').limit(count))
                .returning('id')
                .execute(),
            { org: 0 },
          )
          rows -= gone.length
        } else {
          const fits = rows + count <= limit
          const undo = kind === 'add and undo'
          outcomes.push([await add(count, undo), fits ? (undo ? 'undone' : 'done') : 'quota_exceeded'])
          if (fits && !undo) rows += count
        }
      }
      expect(outcomes.map(([found]) => found)).toEqual(outcomes.map(([, wanted]) => wanted))
    }),
    { numRuns: 60 },
  )
})

test('count again only when nothing seems to be left', async () => {
  const { storage } = service
  const claim = createClaims()
  let counted = 0
  await storage.write((db) => db.deleteFrom('organization_limits').execute(), { org: 0 })
  await storage.write(
    async (db) => {
      const reach = {
        get db() {
          return db
        },
        now: storage.now(),
      }
      const watched = new Proxy(db, {
        get: (target, name) => {
          if (name === 'getExecutor') return () => target.getExecutor()
          if (name !== 'selectFrom') return Reflect.get(target, name) as unknown
          return (table: 'geofences') => {
            if (table === 'geofences') counted += 1
            return target.selectFrom(table)
          }
        },
      })
      for (let i = 0; i < 100; i++) await claim({ ...reach, db: watched }, org, 'geofences')
    },
    { org: 0 },
  )
  expect(counted).toBe(1)
})
