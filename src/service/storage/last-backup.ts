import type { Db } from './schema.ts'
import { readSetting, writeSetting } from './settings.ts'
import type { Storage } from './storage.ts'

const name = 'last backup'

/** Notes in the store that a backup of it was written. */
export const noteBackup = async (storage: Storage): Promise<void> => {
  const value = storage.now()
  await storage.write((db) => writeSetting(db, name, value), { org: null, routine: true })
}

/** When a store was backed up last, in milliseconds since 1970; if it `never` was, when it was created. */
export type LastBackup = { at: number; never: boolean }

/** The backup that svc wrote last, or the WAL that the database archived last. Undefined for a store that was just created. */
export const readLastBackup = async (db: Db, archivedAt?: number | null): Promise<LastBackup | undefined> => {
  const at = Math.max(Date.parse((await readSetting(db, name)) ?? '') || 0, archivedAt ?? 0)
  if (at > 0) return { at, never: false }
  const first = await db
    .selectFrom('audit')
    .where('org_id', '=', 0)
    .select('at')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return first && { at: Date.parse(first.at), never: true }
}
