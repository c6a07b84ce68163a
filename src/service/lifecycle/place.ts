import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import type { Keyring } from '../call/keyring.ts'
import { createKeyring, openKeyring } from '../custody/create-keyring.ts'
import { decodeMasterKey } from '../custody/master-key.ts'
import type { Storage } from '../storage/storage.ts'
import { lockDataDir, prepareDataDir } from './data-dir.ts'
import { openStore } from './open-store.ts'

/** Where the store of a service is: a folder of one process, or a database that several nodes share. */
export type Place =
  | { dataDir: string; databaseUrl?: undefined }
  | { dataDir?: undefined; databaseUrl: string }

/** The address of a place, without a password. */
export const nameOfPlace = ({ dataDir, databaseUrl }: Place): string => {
  if (databaseUrl === undefined) return dataDir
  const url = new URL(databaseUrl)
  url.password = ''
  return url.href
}

type Opened = { storage: Storage; keyring: Keyring }

const requireMasterKey = (env: Env): Buffer => {
  if (env.SVC_MASTER_KEY) return decodeMasterKey(env.SVC_MASTER_KEY, 'SVC_MASTER_KEY')
  throw new SvcError('usage', 'no_master_key', 'A store in a database requires SVC_MASTER_KEY', {
    hint: 'Set it to the same 32 bytes on each node, for example from: openssl rand -hex 32',
  })
}

/**
 * Opens the store of a service and its keyring, for as long as the process runs. `closing` gets what to call at the end,
 * also if this throws.
 */
export const openPlace = async (
  { dataDir, databaseUrl }: Place,
  env: Env,
  report: (line: string) => void,
  closing: (() => void | Promise<void>)[],
): Promise<Opened> => {
  if (databaseUrl !== undefined) {
    const masterKey = requireMasterKey(env)
    // Most services have a folder, and start faster without the driver.
    const { openPostgres } = await import('../storage/postgres/open.ts')
    const storage = await openPostgres({ url: databaseUrl })
    closing.push(storage.close)
    return { storage, keyring: await createKeyring(storage, masterKey, report) }
  }
  prepareDataDir(dataDir)
  closing.push(lockDataDir(dataDir).release)
  const storage = await openStore(dataDir, report)
  closing.push(storage.close)
  return { storage, keyring: await openKeyring(storage, dataDir, env, report) }
}
