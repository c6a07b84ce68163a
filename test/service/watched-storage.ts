import type { Db } from '../../src/service/storage/schema.ts'
import type { Storage, WriteOptions } from '../../src/service/storage/storage.ts'

const undone = new Error('undone')

/** The last row of each audit. */
const headsOf = async (db: Db): Promise<Map<number, number>> => {
  const rows = await db
    .selectFrom('audit')
    .groupBy('org_id')
    .select(({ fn }) => ['org_id', fn.max('seq').as('seq')])
    .execute()
  return new Map(rows.map(({ org_id, seq }) => [org_id, seq]))
}

/**
 * A store that holds writes to what the port promises to other engines. A write appends to the audit of the organization
 * that it named, or begins one; an engine with several writers runs it again otherwise. With `twice`, each write is undone
 * once and runs again, as an engine may do.
 */
export const watchedStorage = (storage: Storage, { twice = false } = {}): Storage => ({
  ...storage,
  write: async <T, O>(work: (db: Db, opened: O) => Promise<T>, options: WriteOptions<O>): Promise<T> => {
    if (twice)
      await storage
        .write(async (db, opened: O) => {
          await work(db, opened)
          throw undone
        }, options)
        // What fails by itself fails again below.
        .catch(() => undefined)
    return storage.write(async (db, opened: O) => {
      if (storage.shared) return work(db, opened)
      const before = await headsOf(db)
      const result = await work(db, opened)
      for (const [org, seq] of await headsOf(db))
        if (org !== options.org && before.has(org) && before.get(org) !== seq)
          throw new Error(`A write named organization ${options.org} and appended to the audit of ${org}`)
      return result
    }, options)
  },
})
