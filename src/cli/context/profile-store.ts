import { chmodSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SvcError } from '../../core/errors.ts'
import type { Io } from '../terminal/io.ts'
import { checkFolder, configDir, readGuarded } from './private-file.ts'
import { emptyFile, parseProfiles, type ProfileFile } from './profile-file.ts'

export type ProfileStore = {
  path: string
  /** Fails with an SvcError that says how to mend a file that is open to others, a link, or not as it should be. */
  read(): ProfileFile
  /** Reads, changes and writes under a lock. `change` may run again, so it must do nothing else. */
  update(change: (file: ProfileFile) => void): Promise<void>
}

const name = 'profiles'
/** How `conf` names the file that it writes before it renames it. */
const leftover = /^profiles\.json\.tmp-\d{10}[0-9a-f]{6}$/

const sweep = (dir: string): void => {
  for (const entry of readdirSync(dir)) if (leftover.test(entry)) rmSync(join(dir, entry), { force: true })
}

/**
 * The profile file. Every command reads it, so reading is a plain read; `conf` and the lock are loaded to write only.
 */
export const createStore = (io: Pick<Io, 'env' | 'cwd'>): ProfileStore => {
  const dir = configDir(io)
  const path = join(dir, `${name}.json`)

  const read = (): ProfileFile => {
    const text = readGuarded(path)
    return text === undefined ? emptyFile() : parseProfiles(text, path)
  }

  const write = async (): Promise<(file: ProfileFile) => void> => {
    const { default: Conf } = await import('conf')
    return (file) => {
      const conf = new Conf<ProfileFile>({
        cwd: dir,
        configName: name,
        configFileMode: 0o600,
        accessPropertiesByDotNotation: false,
        serialize: (value) => `${JSON.stringify(value, null, 2)}\n`,
      })
      conf.store = file
    }
  }

  const update = async (change: (file: ProfileFile) => void): Promise<void> => {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    checkFolder(dir)
    chmodSync(dir, 0o700)
    const [save, { holdLock }] = await Promise.all([write(), import('./profile-lock.ts')])
    for (let tries = 0; tries < 5; tries++) {
      const lock = await holdLock(path)
      try {
        sweep(dir)
        const file = read()
        change(file)
        if (lock.mine()) return save(file)
      } finally {
        lock.release()
      }
    }
    throw new SvcError('failed', 'profile_locked', `The lock of ${path} was lost five times`, {
      hint: 'This machine is very busy. Try again',
    })
  }

  return { path, read, update }
}
