import type { Env } from '../../core/env.ts'
import { SvcError } from '../../core/errors.ts'
import { openKeyring } from '../custody/create-keyring.ts'
import { rotateMasterKey as changeMasterKey, type RotatedMasterKey } from '../custody/rotate-master-key.ts'
import { rotateSigningKey as changeSigningKey, type RotatedSigningKey } from '../custody/signing-keys.ts'
import { newestVersion } from '../storage/migrations.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import type { Storage } from '../storage/storage.ts'
import { lockDataDir, requireStore } from './data-dir.ts'
import { announceUpgrade, openStore, type Upgrade } from './open-store.ts'
import { type ReplacedKeys, replaceOperatorKeys } from './operator-keys.ts'

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

/** Does `work` on a store that a server may have open. That is then of this version, as it is not upgraded under it. */
const withSharedStorage = async <T>(
  dataDir: string,
  tell: (line: string) => void,
  work: (storage: Storage) => Promise<T>,
): Promise<T> => {
  try {
    return await withStorage(dataDir, (upgrade) => tell(announceUpgrade(upgrade)), work)
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'data_dir_in_use') throw error
  }
  const version = storeVersion(requireStore(dataDir))
  if (version !== newestVersion)
    throw new SvcError(
      'failed',
      'service_older',
      `The running service has schema ${version}, and this svc has schema ${newestVersion}`,
      { hint: 'Restart the service with this version of svc, then type the command again' },
    )
  const storage = await openStore(dataDir, (upgrade) => tell(announceUpgrade(upgrade)))
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** Retires the signing key and makes another, while the service runs or not. */
export const rotateSigningKey = (
  dataDir: string,
  env: Env,
  { from, tell }: { from?: string | undefined; tell: (line: string) => void },
): Promise<RotatedSigningKey> =>
  withSharedStorage(dataDir, tell, async (storage) =>
    changeSigningKey({ storage, keyring: await openKeyring(storage, dataDir, env, tell) }, from),
  )

/** Replaces the master key. `given` is the new one as text; without it, the key file gets a key that is made here. */
export const rotateMasterKey = (
  dataDir: string,
  env: Env,
  { given, tell }: { given?: string | undefined; tell: (line: string) => void },
): Promise<RotatedMasterKey> =>
  withStorage(
    dataDir,
    (upgrade) => tell(announceUpgrade(upgrade)),
    (storage) => changeMasterKey(storage, dataDir, env, given, tell),
  )
