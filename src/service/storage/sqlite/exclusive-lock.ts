import { existsSync, writeFileSync } from 'node:fs'
import Libsql from 'libsql'
import { isBusy } from './errors.ts'

/** An exclusive transaction on a lock file; the system ends it with the process. Undefined if another process has it. */
export const takeLock = (file: string): { release(): void } | undefined => {
  // Only if it does not exist: closing a file drops the lock that this process may have on it.
  if (!existsSync(file)) writeFileSync(file, '', { flag: 'a', mode: 0o600 })
  const lock = new Libsql(file)
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return {
    release: () => {
      lock.exec('ROLLBACK')
      lock.close()
    },
  }
}
