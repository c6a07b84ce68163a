import { sql } from 'kysely'
import type { Storage } from '../../src/service/storage/storage.ts'

const undone = new Error('undone')

/**
 * A store that holds writes to what the port promises to other engines. A write appends to the audit of the organization
 * that it named, or begins one. With `twice`, each write is undone once and runs again, as an engine may do.
 */
export const watchedStorage = (storage: Storage, { twice = false } = {}): Storage => ({
  ...storage,
  write: async (work, options) => {
    if (twice)
      await storage
        .write(async (db) => {
          await work(db)
          throw undone
        }, options)
        // What fails by itself fails again below.
        .catch(() => undefined)
    return storage.write(async (db) => {
      const { rows: before } = await sql<{ row: number }>`select max(rowid) as row from audit`.execute(db)
      const result = await work(db)
      const { rows } = await sql<{ org_id: number; action: string }>`
        select org_id, action from audit as a where rowid > ${before[0]!.row ?? 0} and org_id <> ${options.org}
        and not exists (select 1 from audit as b where b.org_id = a.org_id and seq = 1 and rowid > ${before[0]!.row ?? 0})`.execute(
        db,
      )
      for (const { org_id, action } of rows)
        throw new Error(`${action} named organization ${options.org} and appended to the audit of ${org_id}`)
      return result
    }, options)
  },
})
