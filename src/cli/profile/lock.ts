import * as fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import lockfile from 'proper-lockfile'
import { SvcError } from '../../core/errors.ts'

/** A lock of a killed process is taken over after this long, in milliseconds; proper-lockfile allows no less. */
const stale = 2_000
const patience = 30_000

type Held = { mine(): boolean; release(): Promise<void> }

const identity = (lockPath: string): string | undefined => {
  const stats = fs.statSync(lockPath, { bigint: true, throwIfNoEntry: false })
  return stats && `${stats.ino} ${stats.mtimeNs}`
}

/**
 * Two waiters may both find the same dead lock; the slower one would then remove the fresh lock of the faster. So who
 * removes one looks again first, and who got one after a removal lets some time pass before trusting it.
 */
const takeLock = async (path: string, lockPath: string): Promise<Held> => {
  let tookOver = false
  let held: string | undefined
  const mine = (): boolean => held !== undefined && identity(lockPath) === held
  const rmdir = (target: string, done: fs.NoParamCallback): void => {
    if (held !== undefined) return mine() ? fs.rmdir(target, done) : done(null)
    const stats = fs.statSync(target, { throwIfNoEntry: false })
    if (stats && stats.mtimeMs >= Date.now() - stale)
      return done(Object.assign(new Error('held again'), { code: 'ELOCKED' }))
    tookOver = true
    fs.rmdir(target, done)
  }
  const release = await lockfile.lock(path, {
    realpath: false,
    stale,
    fs: { ...fs, rmdir },
    onCompromised: () => undefined,
  })
  held = identity(lockPath)
  if (tookOver) await sleep(100)
  return { mine, release }
}

/** Waits for the lock of this file. `mine` says whether it still is: ask right before what must not be lost. */
export const holdLock = async (path: string): Promise<Held> => {
  const lockPath = `${path}.lock`
  const deadline = Date.now() + patience
  for (;;)
    try {
      return await takeLock(path, lockPath)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ELOCKED') throw error
      if (Date.now() > deadline)
        throw new SvcError('failed', 'profile_locked', `Another svc holds ${lockPath}`, {
          hint: `if no other svc runs: rmdir '${lockPath}'`,
          cause: error,
        })
      await sleep(5 + Math.random() * 45)
    }
}
