import type { Db } from './schema.ts'
import { readSetting, writeSetting } from './settings.ts'
import type { Storage } from './storage.ts'

const name = 'last backup'

/** Notes in the store that a backup of it was written. */
export const noteBackup = async (storage: Storage): Promise<void> => {
  const value = storage.now()
  await storage.write((db) => writeSetting(db, name, value), { org: null, routine: true })
}

/** When the last backup was written, or the store created if there is none. */
export const readLastBackup = async (db: Db): Promise<string | undefined> => {
  const noted = await readSetting(db, name)
  if (noted !== undefined) return noted
  const first = await db
    .selectFrom('audit')
    .where('org_id', '=', 0)
    .select('at')
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst()
  return first?.at
}
