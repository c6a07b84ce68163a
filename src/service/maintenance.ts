import { lockDataDir, requireStore } from './data-dir.ts'
import { replaceOperatorKeys } from './operator.ts'
import { openConnection } from './storage/connection.ts'
import { migrationNames, versionOf } from './storage/migrations.ts'
import { openSqlite } from './storage/sqlite.ts'
import type { Storage } from './storage/storage.ts'

export { backup, restore } from './backup.ts'

// What follows is refused while a server runs: each takes the lock of the data directory.

const withStorage = async <T>(path: string, work: (storage: Storage) => Promise<T>): Promise<T> => {
  const storage = await openSqlite({ path })
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

const versionIn = (path: string): number => {
  const connection = openConnection(path)
  try {
    return versionOf(connection)
  } finally {
    connection.close()
  }
}

/** Brings the store up to date, as a start of the service would; answers the names of the migrations that ran. */
export const migrate = async (dataDir: string): Promise<string[]> => {
  const path = requireStore(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    const from = versionIn(path)
    await withStorage(path, async () => {})
    return migrationNames.slice(from)
  } finally {
    lock.release()
  }
}

/** Ends every operator key and makes a new one, for when the last one is lost. */
export const resetOperatorKey = async (dataDir: string): Promise<string> => {
  const path = requireStore(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    return await withStorage(path, replaceOperatorKeys)
  } finally {
    lock.release()
  }
}
