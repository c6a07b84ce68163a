import type { Env } from '../../core/env.ts'
import type { Keyring } from '../call/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import { announceAdoption } from './adoption.ts'
import { createKeyring, isUsed } from './create-keyring.ts'
import { readMarker } from './marker.ts'
import { loadMasterKey } from './master-key.ts'
import { settlePending } from './pending-key.ts'

/** The master key of a data folder. A rotation that broke off is finished first. */
export const openMasterKey = async (storage: Storage, dataDir: string, env: Env): Promise<Buffer> => {
  if (!env.SVC_MASTER_KEY) settlePending(dataDir, await storage.read(readMarker))
  return loadMasterKey(dataDir, env, await isUsed(storage))
}

/** The keyring of the store of a data folder. `tell` hears, line by line, of rows that are authenticated now. */
export const openKeyring = async (
  storage: Storage,
  dataDir: string,
  env: Env,
  tell: (line: string) => void,
): Promise<Keyring> =>
  createKeyring(storage, await openMasterKey(storage, dataDir, env), (adopted) =>
    announceAdoption(adopted).forEach(tell),
  )
