import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { failure, SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { takeLock } from '../storage/sqlite/exclusive-lock.ts'
import { asStoreProblem } from '../storage/sqlite/errors.ts'

export const storeFile = (dataDir: string): string => join(dataDir, 'svc.db')
const pidFile = (dataDir: string): string => join(dataDir, 'server.pid')

const hints: Record<string, string> = {
  ENOSPC: 'Free some room on that disk, or use a folder on another: --data-dir NEWFOLDER',
  EROFS: 'Mount it writable, or use another folder: --data-dir NEWFOLDER',
  ENOTDIR: 'The path is a file or is inside one. Use a folder: --data-dir NEWFOLDER',
  EEXIST: 'The path is a file. Use a folder: --data-dir NEWFOLDER',
}

/** Why a data folder cannot be used, with the next command. */
export const unusable = (dataDir: string, cause: unknown): SvcError => {
  const { code, message } = cause as NodeJS.ErrnoException
  return new SvcError('failed', 'data_dir_unusable', `The data folder ${dataDir} cannot be used`, {
    detail: message,
    hint:
      hints[code ?? ''] ?? 'Use another folder (--data-dir NEWFOLDER), or make this user its owner (chown)',
    cause,
  })
}

// Left behind by a first start that was interrupted, or part of a new file system.
const harmlessFile = /^(?:lock(?:-journal)?|server\.pid|svc\.db\.partial|lost\+found)$/
const storeFiles = /^(?:master\.key(?:\.next)?|svc\.db-(?:wal|shm|journal))$/

const firstNames = (names: string[]): string =>
  names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '')

/** Other files of the store exist, so an empty store would hide that data was lost. */
export const storeMissing = (dataDir: string, left: string[]): SvcError =>
  failure(
    'store_missing',
    `${storeFile(dataDir)} is missing or empty, but ${firstNames(left)} exists. Nothing was changed`,
    `Restore a backup: svc service restore BACKUP.db --data-dir NEWFOLDER. To start with an empty store, use a new folder, or remove ${firstNames(left)}`,
  )

/**
 * Root can write anywhere. In another user's folder it would create files that this user cannot read, and the user could
 * replace them.
 */
const refuseOtherOwner = (dataDir: string): void => {
  const self = process.getuid?.()
  for (const path of [dataDir, storeFile(dataDir)]) {
    const owner = statSync(path, { throwIfNoEntry: false })?.uid
    if (self === undefined || owner === undefined || owner === self) continue
    throw failure(
      'foreign_data_dir',
      `${path} belongs to another user (uid ${owner}). Nothing was changed`,
      `Run svc as that user, use another folder (--data-dir NEWFOLDER), or take it over: chown ${self} ${shellQuote(path)}`,
    )
  }
}

/**
 * Throws an SvcError, before anything is changed, if the folder is not empty and not a data folder: svc would close it to
 * its users and fill it with files.
 */
const refuseForeign = (dataDir: string): void => {
  const stat = statSync(dataDir, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return
  const names = readdirSync(dataDir)
  if (names.includes('svc.db')) return refuseOtherOwner(dataDir)
  const foreign = names.filter((name) => !harmlessFile.test(name) && !storeFiles.test(name))
  const shared = (stat.mode & 0o1000) !== 0
  if (shared || foreign.length > 0)
    throw failure(
      'foreign_data_dir',
      foreign.length > 0
        ? `${dataDir} is not a data folder of svc: it contains ${firstNames(foreign)}. Nothing was changed`
        : `${dataDir} is shared with other users. Nothing was changed`,
      `Use a separate folder: --data-dir ${shellQuote(join(dataDir, 'svc'))}`,
    )
  refuseOtherOwner(dataDir)
  const left = names.filter((name) => storeFiles.test(name))
  if (left.length > 0) throw storeMissing(dataDir, left)
}

/** Creates the folder if needed, with mode 0700 under any umask. */
export const prepareDataDir = (dataDir: string): void => {
  try {
    refuseForeign(dataDir)
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    chmodSync(dataDir, 0o700)
    readdirSync(dataDir)
  } catch (error) {
    throw error instanceof SvcError ? error : unusable(dataDir, error)
  }
}

/** The path of the store; throws an SvcError if there is none. */
export const requireStore = (dataDir: string): string => {
  const file = storeFile(dataDir)
  if (existsSync(file) && statSync(file).isFile()) return file
  throw new SvcError('notFound', 'no_store', `No store found in ${dataDir}`, {
    hint: 'Pass the data folder: --data-dir FOLDER. The first start creates one: svc serve',
  })
}

const lockHolder = (dataDir: string): string => {
  try {
    const pid = readFileSync(pidFile(dataDir), 'utf8').trim()
    return /^\d{1,10}$/.test(pid) ? `process ${pid}` : 'another process'
  } catch {
    return 'another process'
  }
}

/** Locks the data folder against every other process, until `release` or the end of this process. */
export const lockDataDir = (dataDir: string): { release(): void } => {
  let lock: ReturnType<typeof takeLock>
  try {
    lock = takeLock(join(dataDir, 'lock'))
    if (lock) writeFileSync(pidFile(dataDir), `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    const known = asStoreProblem(storeFile(dataDir), error)
    throw known instanceof SvcError ? known : unusable(dataDir, error)
  }
  if (lock) return lock
  throw failure(
    'data_dir_in_use',
    `The data folder ${dataDir} is in use by ${lockHolder(dataDir)}`,
    'Stop that service first, or use another folder: --data-dir NEWFOLDER',
  )
}
