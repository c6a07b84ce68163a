import { failure } from '../../core/errors.ts'
import type { Db } from '../storage/schema.ts'
import { readSetting, writeSetting } from '../storage/settings.ts'
import { openSqlite } from '../storage/sqlite/open.ts'
import { type Storage, useStorage } from '../storage/storage.ts'

const mark = 'moved_to'

/** Marks the store of a folder whose rows are now in a database. */
export const markMoved = async (path: string, database: string): Promise<void> => {
  const storage = await openSqlite({ path })
  await useStorage(storage, () => storage.write((db) => writeSetting(db, mark, database), { org: 0 }))
}

/** Throws an SvcError if the store was moved: two services with the same approvals could use one twice. */
export const refuseMoved = async (storage: Storage, dataDir: string): Promise<void> => {
  const database = await storage.read((db) => readSetting(db, mark))
  if (database !== undefined)
    throw failure(
      'store_moved',
      `The store of ${dataDir} was moved to ${database}`,
      'Start the service with SVC_DATABASE_URL. To go back, use svc service backup and svc service restore',
    )
}

/** A backup of a moved store can be restored, on purpose. */
export const forgetMove = async (db: Db): Promise<void> =>
  void (await db.deleteFrom('settings').where('name', '=', mark).execute())
