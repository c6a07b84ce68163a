import { existsSync, writeFileSync } from 'node:fs'
import Libsql from 'libsql'
import { isBusy } from './errors.ts'

/** An exclusive transaction on a file of its own, which the system ends with the process; undefined when another holds it. */
export const takeLock = (file: string): { release(): void } | undefined => {
  // Only where there is none: to close a file drops the lock that this process may hold on it.
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
