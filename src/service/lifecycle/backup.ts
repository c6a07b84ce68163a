import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { failure, SvcError } from '../../core/errors.ts'
import { masterKeyFile, pendingKeyFile, textOpens } from '../custody/master-key.ts'
import { asStoreProblem, isDamage } from '../storage/sqlite/errors.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import { openSqlite } from '../storage/sqlite/open.ts'
import { openSnapshot, writeSnapshot } from '../storage/sqlite/snapshot.ts'
import { useStorage } from '../storage/storage.ts'
import { type Returned, settleRestored } from './restored.ts'
import { lockDataDir, prepareDataDir, requireStore, storeFile } from './data-dir.ts'

export const fileExists = (file: string): SvcError =>
  failure('file_exists', `${file} already exists`, 'Use a new file name')

/** Why a backup could not be written. */
export const writeFailed = (file: string, error: unknown): SvcError => {
  if (error instanceof SvcError) return error
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return fileExists(file)
  return new SvcError('failed', 'backup_failed', `The backup could not be written to ${file}`, {
    detail: (error as Error).message,
    hint: 'Check that the folder exists, can be written to and has room',
    cause: error,
  })
}

/** Why a backup could not be restored. */
export const badBackup = (file: string, error: unknown): SvcError =>
  error instanceof SvcError
    ? error
    : new SvcError('failed', 'bad_backup', `${file} is not a complete backup of svc`, {
        detail: (error as Error).message,
        hint: 'Create backups with: svc service backup FILE',
        cause: error,
      })

/** Throws if a backup is not possible; returns the path of the store. Changes nothing. */
export const checkBackup = (dataDir: string, file: string): string => {
  const store = requireStore(dataDir)
  if (existsSync(file)) throw fileExists(file)
  try {
    storeVersion(store)
  } catch (error) {
    throw asStoreProblem(store, error)
  }
  return store
}

const readKeys = (dataDir: string): string[] =>
  [masterKeyFile(dataDir), pendingKeyFile(dataDir)]
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))

/**
 * Writes a consistent copy of the store and the master key to one file, which is therefore a secret. The service can keep
 * running. A master key from `SVC_MASTER_KEY` is not in the data folder, so it is not in the file.
 */
export const backup = (dataDir: string, file: string): void => {
  const store = checkBackup(dataDir, file)
  // A rotation may replace the key while the store is copied.
  const before = readKeys(dataDir)
  const partial = `${file}.partial`
  try {
    rmSync(partial, { force: true })
    writeSnapshot(store, partial, (marker) => {
      const keys = [...before, ...readKeys(dataDir)]
      return marker === undefined ? keys[0] : keys.find((key) => textOpens(key, marker))
    })
    // Unlike a rename, a link never replaces a file that was created in the meantime.
    linkSync(partial, file)
  } catch (error) {
    throw writeFailed(file, isDamage(error) ? asStoreProblem(store, error) : error)
  } finally {
    rmSync(partial, { force: true })
  }
}

type Restored = { withKey: boolean; returned: Returned }

const unpack = async (file: string, dataDir: string): Promise<Restored> => {
  const partial = `${storeFile(dataDir)}.partial`
  copyFileSync(file, partial)
  chmodSync(partial, 0o600)
  const masterKey = openSnapshot(partial)
  if (masterKey !== undefined) writeFileSync(masterKeyFile(dataDir), masterKey, { mode: 0o600, flush: true })
  const returned = await useStorage(await openSqlite({ path: partial }), settleRestored)
  for (const rest of [`${partial}-wal`, `${partial}-shm`]) rmSync(rest, { force: true })
  // Renamed last: a store that a crash left half-restored would send old messages.
  renameSync(partial, storeFile(dataDir))
  return { withKey: masterKey !== undefined, returned }
}

/** `lost+found` belongs to the file system. */
const contentsOf = (dataDir: string): string[] => readdirSync(dataDir).filter((name) => name !== 'lost+found')

export const requireBackup = (file: string): void => {
  if (!existsSync(file))
    throw new SvcError('notFound', 'no_backup', `File ${file} not found`, {
      hint: 'Pass the path of a backup file',
    })
}

/** Throws if a restore is not possible. Changes nothing. */
export const checkRestore = (file: string, dataDir: string): void => {
  requireBackup(file)
  if (existsSync(dataDir) && contentsOf(dataDir).length > 0)
    throw failure(
      'data_dir_not_empty',
      `${dataDir} is not empty; nothing was changed`,
      'Restore into a new folder: --data-dir NEWFOLDER',
    )
}

/**
 * Creates a data folder from a backup. Refuses a folder that is not empty, and empties it again on failure. `withKey`: the
 * backup contained the master key.
 */
export const restore = async (file: string, dataDir: string): Promise<Restored> => {
  checkRestore(file, dataDir)
  prepareDataDir(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    const unpacked = await unpack(file, dataDir)
    lock.release()
    return unpacked
  } catch (error) {
    lock.release()
    for (const name of contentsOf(dataDir)) rmSync(join(dataDir, name), { force: true })
    throw badBackup(file, error)
  }
}
