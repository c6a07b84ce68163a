import type { Env } from '../../core/env.ts'
import type { Storage } from '../storage/storage.ts'
import { announceAdoption } from './adoption.ts'
import { createKeyring, isUsed } from './create-keyring.ts'
import type { Keyring } from './keyring.ts'
import { loadMasterKey } from './master-key.ts'

/** The keyring of the store of a data folder. `tell` hears, line by line, of rows that are authenticated now. */
export const openKeyring = async (
  storage: Storage,
  dataDir: string,
  env: Env,
  tell: (line: string) => void,
): Promise<Keyring> => {
  const masterKey = loadMasterKey(dataDir, env, await isUsed(storage))
  return createKeyring(storage, masterKey, (adopted) => announceAdoption(adopted).forEach(tell))
}
