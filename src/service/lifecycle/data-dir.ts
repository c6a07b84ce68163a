import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { takeLock } from '../storage/sqlite/exclusive-lock.ts'
import { asStoreProblem } from '../storage/sqlite/errors.ts'

export const storeFile = (dataDir: string): string => join(dataDir, 'svc.db')
const pidFile = (dataDir: string): string => join(dataDir, 'server.pid')

const hints: Record<string, string> = {
  ENOSPC: 'Free some room on that disk, or use a folder on another: --data-dir NEWFOLDER',
  EROFS: 'Mount it writable, or use another folder: --data-dir NEWFOLDER',
  ENOTDIR: 'It is a file, or below one. Name a folder: --data-dir NEWFOLDER',
  EEXIST: 'It is a file. Name a folder: --data-dir NEWFOLDER',
}

/** What keeps a data folder from being used, with the next command. */
export const unusable = (dataDir: string, cause: unknown): SvcError => {
  const { code, message } = cause as NodeJS.ErrnoException
  return new SvcError('failed', 'data_dir_unusable', `The data folder ${dataDir} cannot be used`, {
    detail: message,
    hint:
      hints[code ?? ''] ?? 'Use another folder (--data-dir NEWFOLDER), or make this user its owner (chown)',
    cause,
  })
}

// What a first start that broke off leaves behind, and what a new file system holds.
const ours = /^(?:lock(?:-journal)?|server\.pid|svc\.db\.partial|lost\+found)$/
const ofStore = /^(?:master\.key(?:\.next)?|svc\.db-(?:wal|shm|journal))$/

/** Names of a folder, a few of them. */
const some = (names: string[]): string =>
  names.slice(0, 3).join(', ') + (names.length > 3 ? ` and ${names.length - 3} more` : '')

/** Other files of a store are there: to start with an empty one would hide that the data is gone. */
export const storeMissing = (dataDir: string, left: string[]): SvcError =>
  new SvcError(
    'failed',
    'store_missing',
    `${storeFile(dataDir)} is missing or empty, but ${some(left)} is there. Nothing was changed`,
    {
      hint: `Restore a backup: svc service restore BACKUP.db --data-dir NEWFOLDER. To start with nothing, use a new folder, or remove ${some(left)}`,
    },
  )

/**
 * Root can write anywhere. In a folder of another user it would make files that this user cannot read, and that user could
 * replace them.
 */
const refuseOfOthers = (dataDir: string): void => {
  const self = process.getuid?.()
  for (const path of [dataDir, storeFile(dataDir)]) {
    const owner = statSync(path, { throwIfNoEntry: false })?.uid
    if (self === undefined || owner === undefined || owner === self) continue
    throw new SvcError(
      'failed',
      'foreign_data_dir',
      `${path} belongs to another user (uid ${owner}). Nothing was changed`,
      {
        hint: `Run svc as that user, use another folder (--data-dir NEWFOLDER), or take it over: chown ${self} ${shellQuote(path)}`,
      },
    )
  }
}

/**
 * Fails with an SvcError, before anything is changed, where a folder is no data folder and is not empty: it would be
 * closed to its users and filled with files.
 */
const refuseForeign = (dataDir: string): void => {
  const stat = statSync(dataDir, { throwIfNoEntry: false })
  if (!stat?.isDirectory()) return
  const names = readdirSync(dataDir)
  if (names.includes('svc.db')) return refuseOfOthers(dataDir)
  const foreign = names.filter((name) => !ours.test(name) && !ofStore.test(name))
  const shared = (stat.mode & 0o1000) !== 0
  if (shared || foreign.length > 0)
    throw new SvcError(
      'failed',
      'foreign_data_dir',
      foreign.length > 0
        ? `${dataDir} is not a data folder of svc: it holds ${some(foreign)}. Nothing was changed`
        : `${dataDir} is shared with other users. Nothing was changed`,
      { hint: `Use a folder of its own: --data-dir ${shellQuote(join(dataDir, 'svc'))}` },
    )
  refuseOfOthers(dataDir)
  const left = names.filter((name) => ofStore.test(name))
  if (left.length > 0) throw storeMissing(dataDir, left)
}

/** Makes the folder if needed; 0700 whatever the umask is. */
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

/** Fails with an SvcError where no service has ever run. */
export const requireStore = (dataDir: string): string => {
  const file = storeFile(dataDir)
  if (existsSync(file) && statSync(file).isFile()) return file
  throw new SvcError('notFound', 'no_store', `There is no store in ${dataDir}`, {
    hint: 'Name the data folder: --data-dir FOLDER. A first start makes one: svc serve',
  })
}

const holder = (dataDir: string): string => {
  try {
    const pid = readFileSync(pidFile(dataDir), 'utf8').trim()
    return /^\d{1,10}$/.test(pid) ? `process ${pid}` : 'another process'
  } catch {
    return 'another process'
  }
}

/** Keeps every other process away from a data folder until it is released or this process dies. */
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
  throw new SvcError(
    'failed',
    'data_dir_in_use',
    `The data folder ${dataDir} is in use by ${holder(dataDir)}`,
    { hint: 'Stop that service first, or use another folder: --data-dir NEWFOLDER' },
  )
}
