import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempted } from '../../core/attempted.ts'
import { SvcError } from '../../core/errors.ts'
import { randomToken, sha256 } from '../../core/ids.ts'

// The lock is a folder with one file, named after its holder. A process acquires it by renaming a prepared folder into
// place, which works only if there is no folder or an empty one, and releases it by deleting its own file. So a slow
// process cannot remove the lock of another one: its own file is gone, and the folder is not empty.

/** Milliseconds. A holder needs a few; one that needs longer than `lease` gives up before others consider it dead. */
const lease = 5_000
const stale = 10_000
const patience = 30_000

/** Codes of a lost race. Windows reports EPERM if the folder exists. */
const lostRace = new Set([
  'ENOENT',
  'ENOTEMPTY',
  'EEXIST',
  ...(process.platform === 'win32' ? ['EPERM', 'EACCES'] : []),
])

const attempt = (change: () => void): boolean => {
  try {
    change()
    return true
  } catch (error) {
    if (lostRace.has((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** A process id is meaningful only on the machine and in the container that assigned it. */
const namespace = attempted(() => readlinkSync('/proc/self/ns/pid')) ?? ''
const here = sha256(`${hostname()} ${namespace}`).slice(0, 12)
const isDead = (holder: string): boolean => {
  const [place, pid] = holder.split('.')
  return place === here && /^\d{1,10}$/.test(pid ?? '') && !isAlive(Number(pid))
}

const list = (dir: string): string[] => {
  let names: string[] = []
  attempt(() => (names = readdirSync(dir)))
  return names
}

const removeStale = (lockPath: string): void => {
  for (const holder of list(lockPath)) {
    const file = join(lockPath, holder)
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (isDead(holder) || age > stale) attempt(() => unlinkSync(file))
  }
  attempt(() => rmdirSync(lockPath))
}

/** Deletes what killed waiters left next to the lock. Only the holder may call it. */
const sweep = (lockPath: string): void => {
  const prefix = `${basename(lockPath)}-`
  for (const name of list(dirname(lockPath)))
    if (name.startsWith(prefix) && isDead(name.slice(prefix.length)))
      rmSync(join(dirname(lockPath), name), { recursive: true, force: true })
}

export type Lock = { mine(): boolean; release(): void }

/** Waits for the lock of this file. Call `mine` right before the write: the lock may have been lost. */
export const acquireLock = async (path: string): Promise<Lock> => {
  const lockPath = `${path}.lock`
  const holder = `${here}.${process.pid}.${randomToken(9)}`
  const ready = `${lockPath}-${holder}`
  const file = join(lockPath, holder)
  const deadline = Date.now() + patience
  mkdirSync(ready, { mode: 0o700 })
  try {
    writeFileSync(join(ready, holder), '')
    for (;;) {
      const now = Date.now()
      utimesSync(join(ready, holder), now / 1000, now / 1000)
      if (attempt(() => renameSync(ready, lockPath))) {
        sweep(lockPath)
        const mine = (): boolean =>
          Date.now() - now < lease && statSync(file, { throwIfNoEntry: false }) !== undefined
        const release = (): void => {
          attempt(() => unlinkSync(file))
          attempt(() => rmdirSync(lockPath))
        }
        return { mine, release }
      }
      if (now > deadline)
        throw new SvcError('failed', 'profile_locked', `Another svc process holds the lock ${lockPath}`, {
          hint: `If no other svc process is running: rm -r '${lockPath}'`,
        })
      removeStale(lockPath)
      await sleep(5 + Math.random() * 25)
    }
  } finally {
    rmSync(ready, { recursive: true, force: true })
  }
}
