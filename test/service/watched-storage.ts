import { sql } from 'kysely'
import type { Db } from '../../src/service/storage/schema.ts'
import type { Storage, WriteOptions } from '../../src/service/storage/storage.ts'

const undone = new Error('undone')

/** The number of the newest row of all audits in the embedded store. */
const newestIn = async (db: Db): Promise<number> => {
  const { rows } = await sql<{ newest: number | null }>`select max(rowid) as newest from audit`.execute(db)
  return rows[0]!.newest ?? 0
}

/** The organizations to whose audit rows were appended since then; one that began is none of them. */
const appendedSince = async (db: Db, newest: number): Promise<number[]> => {
  const since = sql<{ org_id: number }>`
    select org_id from audit where rowid > ${newest} group by org_id having min(seq) > 1`
  return (await since.execute(db)).rows.map(({ org_id }) => org_id)
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
      const newest = await newestIn(db)
      const result = await work(db, opened)
      for (const org of await appendedSince(db, newest))
        if (org !== options.org)
          throw new Error(`A write named organization ${options.org} and appended to the audit of ${org}`)
      return result
    }, options)
  },
})
