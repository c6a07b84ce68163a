import type { Env } from '../../core/env.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Keyring } from '../call/keyring.ts'
import { openText } from '../config/private-text.ts'
import { createKeyring, openKeyring } from '../custody/create-keyring.ts'
import { decodeMasterKey } from '../custody/master-key.ts'
import { readDatabaseUrl } from '../storage/postgres/database-url.ts'
import type { Storage } from '../storage/storage.ts'
import { lockDataDir, prepareDataDir } from './data-dir.ts'
import { openStore } from './open-store.ts'

/** Where the store of a service is: a folder of one process, or a database that several nodes share. */
export type StorePlace =
  | { dataDir: string; databaseUrl?: undefined }
  | {
      dataDir?: undefined
      databaseUrl: string
      /** Connections of this node. */
      connections?: number | undefined
      /** Accepts a database that can lose acknowledged writes. */
      allowDataLoss?: boolean | undefined
    }

export type PlaceFlags = { dataDir?: string | undefined; databaseUrlFile?: string | undefined }

const fileFlag = '--database-url-file'

/** The URL in a file that only this user can read. Throws a usage error that does not show it. */
export const readUrlFile = (file: string, flag = fileFlag): string => {
  if (file.includes(':/'))
    throw usageError(
      `${flag} takes a file, and not the URL itself`,
      'Other users of this machine can read an argument: write the URL into a file, or set SVC_DATABASE_URL',
    )
  const { text, requirePrivate } = openText(file, flag)
  requirePrivate()
  const url = text.trim()
  if (url === '')
    throw usageError(
      `${flag} ${file} is empty`,
      'Write the URL into it: postgres://svc:PASSWORD@db.example.com/svc',
    )
  readDatabaseUrl(url, `${flag} ${file}`)
  return url
}

/**
 * The place that a person chose: the folder or the file of the flags, otherwise the database of SVC_DATABASE_URL, otherwise
 * the folder `standard`. Throws a usage error.
 */
export const choosePlace = (
  { dataDir, databaseUrlFile }: PlaceFlags,
  env: Env,
  standard: string,
): StorePlace => {
  if (dataDir !== undefined && databaseUrlFile !== undefined)
    throw usageError(
      `--data-dir and ${fileFlag} cannot be used together`,
      'The store is in a folder or in a database. Remove one of the two flags',
    )
  if (databaseUrlFile !== undefined) return { databaseUrl: readUrlFile(databaseUrlFile) }
  if (dataDir !== undefined || !env.SVC_DATABASE_URL) return { dataDir: dataDir ?? standard }
  readDatabaseUrl(env.SVC_DATABASE_URL)
  return { databaseUrl: env.SVC_DATABASE_URL }
}

/** The address of a place, without a password. */
export const nameOfPlace = ({ dataDir, databaseUrl }: StorePlace): string =>
  databaseUrl === undefined ? dataDir : readDatabaseUrl(databaseUrl).name

const masterKeyHint =
  'Set it to the same key on each node: to the key of the store; after a move or a restore from a data folder, to the text of its file master.key. For a new store: openssl rand -hex 32'

export const requireMasterKey = (env: Env, hint = masterKeyHint): Buffer => {
  if (env.SVC_MASTER_KEY) return decodeMasterKey(env.SVC_MASTER_KEY, 'SVC_MASTER_KEY')
  throw new SvcError('usage', 'no_master_key', 'A store in a database requires SVC_MASTER_KEY', { hint })
}

const keyringHints: Record<string, string> = {
  wrong_master_key:
    'Set SVC_MASTER_KEY to the key of this database, the same on each node; after svc service rotate-master-key, to the new one',
  store_changed: 'Restore a backup into an empty database: svc service restore BACKUP.db',
}

/** The hints for a store in a database, where there is no folder. */
export const forDatabase = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    const hint = error instanceof SvcError ? keyringHints[error.code] : undefined
    throw hint === undefined ? error : (error as SvcError).with({ hint })
  }
}

/** The keyring of a store in a database. */
export const openSharedKeyring = (storage: Storage, masterKey: Buffer): Promise<Keyring> =>
  forDatabase(createKeyring(storage, masterKey))

/**
 * Opens the store of a service and its keyring, for as long as the process runs. `closing` gets what to call at the end,
 * also if this throws.
 */
export const openPlace = async (
  place: StorePlace,
  env: Env,
  report: (line: string, level?: 'warn') => void,
  closing: (() => void | Promise<void>)[],
): Promise<{ storage: Storage; keyring: Keyring }> => {
  if (place.databaseUrl !== undefined) {
    const masterKey = requireMasterKey(env)
    const { databaseUrl: url, connections, allowDataLoss = false } = place
    // Most services have a folder, and start faster without the driver.
    const { openPostgres } = await import('../storage/postgres/open.ts')
    const storage = await openPostgres({
      url,
      connections,
      durable: !allowDataLoss,
      report,
    })
    closing.push(storage.close)
    return { storage, keyring: await openSharedKeyring(storage, masterKey) }
  }
  const { dataDir } = place
  prepareDataDir(dataDir)
  closing.push(lockDataDir(dataDir).release)
  const storage = await openStore(dataDir, (line) => report(line), report)
  closing.push(storage.close)
  return { storage, keyring: await openKeyring(storage, dataDir, env) }
}
