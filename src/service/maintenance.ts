import type { Env } from '../core/env.ts'
import { openKeyring } from './custody/open-keyring.ts'
import { lockDataDir, requireStore } from './data-dir.ts'
import { announceUpgrade, openStore, type Upgrade } from './open-store.ts'
import { replaceOperatorKeys, type ReplacedKeys } from './operator.ts'
import { newestVersion } from './storage/migrations.ts'
import type { Storage } from './storage/storage.ts'
import { storeVersion } from './storage/store-version.ts'

export { backup, checkBackup, checkRestore, restore } from './backup.ts'
export { requireStore } from './data-dir.ts'

/** Fails with an SvcError where there is no store, or where a service has it open. */
export const requireIdle = (dataDir: string): void => {
  requireStore(dataDir)
  lockDataDir(dataDir).release()
}

/** Does `work` on a store that no server has open, upgraded first where it is older. */
const withStorage = async <T>(
  dataDir: string,
  tell: (upgrade: Upgrade) => void,
  work: (storage: Storage) => Promise<T>,
): Promise<T> => {
  requireStore(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    const storage = await openStore(dataDir, tell)
    try {
      return await work(storage)
    } finally {
      await storage.close()
    }
  } finally {
    lock.release()
  }
}

/** What `migrate` would do. Changes nothing. */
export const plannedUpgrade = (dataDir: string): { from: number; to: number } => ({
  from: storeVersion(requireStore(dataDir)),
  to: newestVersion,
})

/** Brings the store up to date, as a start of the service would; answers what was done, if anything. */
export const migrate = async (dataDir: string): Promise<Upgrade | undefined> => {
  let upgrade: Upgrade | undefined
  await withStorage(
    dataDir,
    (one) => void (upgrade = one),
    async () => undefined,
  )
  return upgrade
}

/** Ends every operator key and makes a new one, for when the last one is lost. Requires the master key. */
export const resetOperatorKey = (
  dataDir: string,
  env: Env,
  tell: (line: string) => void = () => undefined,
): Promise<ReplacedKeys> =>
  withStorage(
    dataDir,
    (upgrade) => tell(announceUpgrade(upgrade)),
    async (storage) =>
      replaceOperatorKeys({ storage, keyring: await openKeyring(storage, dataDir, env, tell) }),
  )
