import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { masterKeyFile } from '../custody/master-key.ts'
import { newestVersion } from '../storage/migrations.ts'
import { asStoreProblem } from '../storage/sqlite/errors.ts'
import { storeVersion } from '../storage/sqlite/migrate.ts'
import { openSqlite } from '../storage/sqlite/open.ts'
import { checkWhole, requireWhole } from '../storage/sqlite/whole-check.ts'
import type { Storage } from '../storage/storage.ts'
import { backup } from './backup.ts'
import { storeFile, storeMissing } from './data-dir.ts'
import { refuseMoved } from './moved.ts'

export type Upgrade = { from: number; to: number; copy: string }

const announceUpgrade = ({ from, to, copy }: Upgrade): string =>
  `Upgrading the store from schema ${from} to ${to}. A copy is in ${copy}`

const unusedName = (dataDir: string, from: number): string => {
  for (let n = 1; ; n++) {
    const file = join(dataDir, `upgrade-from-${from}${n === 1 ? '' : `-${n}`}.db`)
    if (!existsSync(file)) return file
  }
}

/** Backs up a store that requires an upgrade. Undefined if it is new or up to date. */
const copyOlder = (dataDir: string): Upgrade | undefined => {
  const from = storeVersion(storeFile(dataDir))
  if (from === 0 && existsSync(masterKeyFile(dataDir))) throw storeMissing(dataDir, ['master.key'])
  if (from === 0 || from === newestVersion()) return undefined
  const copy = unusedName(dataDir, from)
  try {
    backup(dataDir, copy)
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'backup_failed') throw error
    throw new SvcError(
      'failed',
      'upgrade_copy_failed',
      `The store requires an upgrade, but its copy could not be written to ${copy}. Nothing was changed`,
      {
        detail: error.detail,
        hint: `Free enough space for a second copy of the store in ${dataDir}, then run the command again`,
        cause: error,
      },
    )
  }
  return { from, to: newestVersion(), copy }
}

const upgradeFailed = ({ copy }: Upgrade, error: unknown): SvcError =>
  new SvcError('failed', 'upgrade_failed', 'The store could not be upgraded and was not changed', {
    detail: (error as Error).message,
    hint: `Install the previous version of svc again. A copy of the store is ${copy}`,
    cause: error,
  })

/** A store up to this size is checked in 0.1 s. */
const smallBytes = 32 * 1024 * 1024

/**
 * Opens the store of a data folder that this process has locked. Copies an older store and then upgrades it, and calls
 * `notify` between the two. Throws an SvcError that says what to do. With `report`, a store that is not small is checked for
 * damage only after it is open, so that the start does not wait for it.
 */
export const openStore = async (
  dataDir: string,
  notify: (message: string, upgrade: Upgrade) => void,
  report?: (message: string, level: 'warn') => void,
): Promise<Storage> => {
  const file = storeFile(dataDir)
  let upgrade: Upgrade | undefined
  try {
    const later = report && existsSync(file) && statSync(file).size > smallBytes
    if (existsSync(file) && !later) requireWhole(file)
    upgrade = existsSync(file) ? copyOlder(dataDir) : undefined
    if (upgrade) notify(announceUpgrade(upgrade), upgrade)
    const storage = await openSqlite({
      path: file,
      check: later ? () => checkWhole(file, report) : undefined,
      report,
    })
    try {
      await refuseMoved(storage, dataDir)
      return storage
    } catch (error) {
      await storage.close()
      throw error
    }
  } catch (error) {
    const known = asStoreProblem(file, error)
    throw upgrade && !(known instanceof SvcError) ? upgradeFailed(upgrade, error) : known
  }
}
