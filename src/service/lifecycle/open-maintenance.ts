import * as folder from './maintenance.ts'
import type { StorePlace } from './place.ts'
import type { Maintenance } from './store-maintenance.ts'

const folderMaintenance = (dataDir: string): Maintenance => ({
  place: { data_dir: dataDir },
  checkBackup: async (file) => void folder.checkBackup(dataDir, file),
  backup: async (file) => folder.backup(dataDir, file),
  checkRestore: async (file) => folder.checkRestore(file, dataDir),
  restore: async (file, env, notify) => {
    const { withKey, returned } = await folder.restore(file, dataDir)
    if (!withKey && !env.SVC_MASTER_KEY)
      notify('The backup does not contain the master key: set SVC_MASTER_KEY to it before the service starts')
    return returned
  },
  plannedUpgrade: async () => folder.plannedUpgrade(dataDir),
  migrate: () => folder.migrate(dataDir),
  checkSettle: async () => folder.requireIdle(dataDir),
  settle: (notify) => folder.settle(dataDir, notify),
  checkReset: async () => folder.requireIdle(dataDir),
  resetOperatorKey: (env, notify) => folder.resetOperatorKey(dataDir, env, notify),
  checkRotation: async () => void folder.requireStore(dataDir),
  rotateSigningKey: (env, options) => folder.rotateSigningKey(dataDir, env, options),
  checkMasterKeyRotation: async () => folder.requireIdle(dataDir),
  rotateMasterKey: (env, options) => folder.rotateMasterKey(dataDir, env, options),
})

export const maintenanceOf = async ({ dataDir, databaseUrl }: StorePlace): Promise<Maintenance> => {
  if (dataDir !== undefined) return folderMaintenance(dataDir)
  const { databaseMaintenance } = await import('./database-maintenance.ts')
  return databaseMaintenance(databaseUrl)
}
