import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../core/errors.ts'
import { takeLock } from './storage/exclusive-lock.ts'

export const storeFile = (dataDir: string): string => join(dataDir, 'svc.db')
const pidFile = (dataDir: string): string => join(dataDir, 'server.pid')

const unusable = (dataDir: string, cause: unknown): SvcError =>
  new SvcError('failed', 'data_dir_unusable', `The data directory ${dataDir} cannot be used`, {
    detail: (cause as Error).message,
    hint: 'Choose another with --data-dir, or give yourself the right to write there',
    cause,
  })

/** Makes the directory if needed; 0700 whatever the umask is. */
export const prepareDataDir = (dataDir: string): void => {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    chmodSync(dataDir, 0o700)
    readdirSync(dataDir)
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

/** Fails with an SvcError where no service has ever run. */
export const requireStore = (dataDir: string): string => {
  const file = storeFile(dataDir)
  if (existsSync(file) && statSync(file).isFile()) return file
  throw new SvcError('notFound', 'no_store', `There is no store in ${dataDir}`, {
    hint: 'Name the data directory with --data-dir, or start the service once: svc serve',
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

/** Keeps every other process away from a data directory until it is released or this process dies. */
export const lockDataDir = (dataDir: string): { release(): void } => {
  let lock: ReturnType<typeof takeLock>
  try {
    lock = takeLock(join(dataDir, 'lock'))
    if (lock) writeFileSync(pidFile(dataDir), `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    throw unusable(dataDir, error)
  }
  if (lock) return lock
  throw new SvcError(
    'failed',
    'data_dir_in_use',
    `The data directory ${dataDir} is in use by ${holder(dataDir)}`,
    { hint: 'Stop that one first, or use another directory with --data-dir' },
  )
}
