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
import { SvcError } from '../../core/errors.ts'
import { randomToken, sha256 } from '../../core/ids.ts'

// The lock is a folder with one file in it, named after its holder. It is taken by renaming a folder made ready into
// place, which works only where there is none or an empty one, and given up by removing that one file by its name. So
// nobody who acts late on what he saw can remove the lock of another: the name is not there, the folder not empty.

/** Milliseconds. A holder needs a few; who needs longer than `lease` gives up before others may call him dead. */
const lease = 5_000
const stale = 10_000
const patience = 30_000

const namespace = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}

/** Gone already, or another's. Windows says EPERM where others say that a folder is there. */
const lost = new Set([
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
    if (lost.has((error as NodeJS.ErrnoException).code ?? '')) return false
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

/** A process id says something only where it was given: on this machine, in this container. */
const here = sha256(`${hostname()} ${namespace()}`).slice(0, 12)
const isDead = (holder: string): boolean => {
  const [place, pid] = holder.split('.')
  return place === here && /^\d{1,10}$/.test(pid ?? '') && !isAlive(Number(pid))
}

const list = (dir: string): string[] => {
  let names: string[] = []
  attempt(() => (names = readdirSync(dir)))
  return names
}

const bury = (lockPath: string): void => {
  for (const holder of list(lockPath)) {
    const file = join(lockPath, holder)
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (isDead(holder) || age > stale) attempt(() => unlinkSync(file))
  }
  attempt(() => rmdirSync(lockPath))
}

/** What killed waiters have left beside the lock. To be called by its holder. */
const sweep = (lockPath: string): void => {
  const prefix = `${basename(lockPath)}-`
  for (const name of list(dirname(lockPath)))
    if (name.startsWith(prefix) && isDead(name.slice(prefix.length)))
      rmSync(join(dirname(lockPath), name), { recursive: true, force: true })
}

export type Held = { mine(): boolean; release(): void }

/** Waits for the lock of this file. `mine` says whether it still is: ask right before what must not be lost. */
export const holdLock = async (path: string): Promise<Held> => {
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
      bury(lockPath)
      await sleep(5 + Math.random() * 25)
    }
  } finally {
    rmSync(ready, { recursive: true, force: true })
  }
}
