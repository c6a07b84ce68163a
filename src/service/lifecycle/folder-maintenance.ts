import type { Env } from '../../core/env.ts'
import { failure, SvcError } from '../../core/errors.ts'
import { openKeyring } from '../custody/create-keyring.ts'
import { rotateMasterKey } from '../custody/rotate-master-key.ts'
import { rotateSigningKey } from '../custody/signing-keys.ts'
import { newestVersion } from '../storage/migrations.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import { type Storage, useStorage } from '../storage/storage.ts'
import { asOwner } from './as-owner.ts'
import { backup, checkBackup, checkRestore, restore } from './backup.ts'
import { lockDataDir, requireStore } from './data-dir.ts'
import { noteBackup } from '../storage/last-backup.ts'
import { openStore, type Upgrade } from './open-store.ts'
import { replaceOperatorKeys } from './operator-keys.ts'
import { settleRestored } from './restored.ts'
import type { Maintenance } from './store-maintenance.ts'

/** Throws an SvcError if there is no store or a service has it open. */
export const requireIdle = (dataDir: string): void => {
  requireStore(dataDir)
  lockDataDir(dataDir).release()
}

type Notify = (message: string, upgrade?: Upgrade) => void
type Work<T> = (storage: Storage) => Promise<T>

/** Runs `work` on a store that no service has open, upgraded first if it is older. */
const useIdleStore = async <T>(dataDir: string, notify: Notify, work: Work<T>): Promise<T> => {
  requireStore(dataDir)
  const lock = lockDataDir(dataDir)
  try {
    return await useStorage(await openStore(dataDir, notify), work)
  } finally {
    lock.release()
  }
}

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
  return useStorage(await openStore(dataDir, notify), work)
}

/** Maintenance of the store of a data folder, which no service may have open, except for `rotateSigningKey` and `backup`. */
export const folderMaintenance = (
  dataDir: string,
  env: Env,
  notify: (message: string) => void,
): Maintenance => {
  const useIdle = <T>(work: Work<T>): Promise<T> =>
    asOwner(dataDir, () => useIdleStore(dataDir, notify, work))
  const useShared = <T>(work: Work<T>): Promise<T> =>
    asOwner(dataDir, () => useSharedStore(dataDir, notify, work))
  const checkIdle = (): Promise<void> => asOwner(dataDir, async () => requireIdle(dataDir))
  const partsOf = async (storage: Storage) => ({ storage, keyring: await openKeyring(storage, dataDir, env) })
  return {
    place: { data_dir: dataDir },
    checkBackup: async (file) => void checkBackup(dataDir, file),
    backup: async (file) => {
      backup(dataDir, file)
      // A backup upgrades nothing. It exists, also if that cannot be noted.
      if (storeVersion(requireStore(dataDir)) === newestVersion())
        await useShared(noteBackup).catch(() => undefined)
    },
    checkRestore: async (file) => checkRestore(file, dataDir),
    restore: async (file) => {
      const { withKey, returned } = await restore(file, dataDir)
      if (!withKey && !env.SVC_MASTER_KEY)
        notify(
          'The backup does not contain the master key: set SVC_MASTER_KEY to it before the service starts',
        )
      return returned
    },
    plannedUpgrade: async () => ({ from: storeVersion(requireStore(dataDir)), to: newestVersion() }),
    migrate: async () => {
      let upgrade: Upgrade | undefined
      await asOwner(dataDir, () =>
        useIdleStore(
          dataDir,
          (_, started) => void (upgrade = started),
          async () => undefined,
        ),
      )
      return upgrade
    },
    checkSettle: checkIdle,
    settle: () => useIdle(settleRestored),
    checkReset: checkIdle,
    resetOperatorKey: () => useIdle(async (storage) => replaceOperatorKeys(await partsOf(storage))),
    checkRotation: async () => void requireStore(dataDir),
    rotateSigningKey: (from) => useShared(async (storage) => rotateSigningKey(await partsOf(storage), from)),
    checkMasterKeyRotation: checkIdle,
    rotateMasterKey: (newKey) => useIdle((storage) => rotateMasterKey(storage, dataDir, env, newKey)),
  }
}
