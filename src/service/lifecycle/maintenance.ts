import type { Env } from '../../core/env.ts'
import { failure, SvcError } from '../../core/errors.ts'
import { openKeyring } from '../custody/create-keyring.ts'
import { rotateMasterKey as changeMasterKey, type RotatedMasterKey } from '../custody/rotate-master-key.ts'
import { rotateSigningKey as changeSigningKey, type RotatedSigningKey } from '../custody/signing-keys.ts'
import { newestVersion } from '../storage/migrations.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import type { Storage } from '../storage/storage.ts'
import { lockDataDir, requireStore } from './data-dir.ts'
import { openStore, type Upgrade } from './open-store.ts'
import { type Returned, settleRestored } from './restored.ts'
import { type ReplacedKeys, replaceOperatorKeys } from './operator-keys.ts'

export { backup, checkBackup, checkRestore, restore } from './backup.ts'
export { requireStore } from './data-dir.ts'

/** Throws an SvcError if there is no store or a service has it open. */
export const requireIdle = (dataDir: string): void => {
  requireStore(dataDir)
  lockDataDir(dataDir).release()
}

type Notify = (message: string, upgrade?: Upgrade) => void
type Work<T> = (storage: Storage) => Promise<T>

/** Opens the store for `work`, upgraded first if it is older, and closes it. */
const useStore = async <T>(dataDir: string, notify: Notify, work: Work<T>): Promise<T> => {
  const storage = await openStore(dataDir, notify)
  try {
    return await work(storage)
  } finally {
    await storage.close()
  }
}

/** Runs `work` on a store that no service has open. */
const useIdleStore = async <T>(dataDir: string, notify: Notify, work: Work<T>): Promise<T> => {
  requireStore(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    return await useStore(dataDir, notify, work)
  } finally {
    lock.release()
  }
}

/** The upgrade that `migrate` would do. Changes nothing. */
export const plannedUpgrade = (dataDir: string): { from: number; to: number } => ({
  from: storeVersion(requireStore(dataDir)),
  to: newestVersion(),
})

/** Upgrades the store as a start of the service would; undefined if it was up to date. */
export const migrate = async (dataDir: string): Promise<Upgrade | undefined> => {
  let upgrade: Upgrade | undefined
  await useIdleStore(
    dataDir,
    (_, started) => void (upgrade = started),
    async () => undefined,
  )
  return upgrade
}

/** Makes a store safe that was put back to an earlier time without `restore`. */
export const settle = (dataDir: string, notify: Notify): Promise<Returned> =>
  useIdleStore(dataDir, notify, (storage) =>
    storage.write((db) => settleRestored(db, storage.now()), { org: 0 }),
  )

/** Revokes every operator key and creates a new one, in case the last one is lost. Requires the master key. */
export const resetOperatorKey = (
  dataDir: string,
  env: Env,
  notify: (message: string) => void = () => undefined,
): Promise<ReplacedKeys> =>
  useIdleStore(dataDir, notify, async (storage) =>
    replaceOperatorKeys({ storage, keyring: await openKeyring(storage, dataDir, env) }),
  )

/** Runs `work` on a store that a service may have open. A store in use is never upgraded: it must have this schema. */
const useSharedStore = async <T>(dataDir: string, notify: Notify, work: Work<T>): Promise<T> => {
  try {
    return await useIdleStore(dataDir, notify, work)
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'data_dir_in_use') throw error
  }
  const version = storeVersion(requireStore(dataDir))
  if (version !== newestVersion())
    throw failure(
      'service_older',
      `The running service has schema ${version}, and this svc has schema ${newestVersion()}`,
      'Restart the service with this version of svc, then run the command again',
    )
  return useStore(dataDir, notify, work)
}

/** Retires the signing key and creates another, whether the service runs or not. */
export const rotateSigningKey = (
  dataDir: string,
  env: Env,
  { from, notify }: { from?: string | undefined; notify: (message: string) => void },
): Promise<RotatedSigningKey> =>
  useSharedStore(dataDir, notify, async (storage) =>
    changeSigningKey({ storage, keyring: await openKeyring(storage, dataDir, env) }, from),
  )

/** Replaces the master key by `newKey`, or else by a generated one in the key file. */
export const rotateMasterKey = (
  dataDir: string,
  env: Env,
  { newKey, notify }: { newKey?: string | undefined; notify: (message: string) => void },
): Promise<RotatedMasterKey> =>
  useIdleStore(dataDir, notify, (storage) => changeMasterKey(storage, dataDir, env, newKey))
