import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../core/ids.ts'
import type { Io } from '../io.ts'
import { configDir } from '../profile/config-dir.ts'
import { readGuarded } from '../profile/guarded-file.ts'
import type { Candidate } from './candidates.ts'

const lastsMs = 60_000

/** What was offered within the last minute for the same question; the names of customers, so 0600 like the profiles. */
export const createCache = (io: Io, question: readonly (string | undefined)[]) => {
  const folder = join(configDir(io), 'cache')
  const file = join(folder, `${sha256(JSON.stringify(question)).slice(0, 32)}.json`)
  return {
    read: (): Candidate[] | undefined => {
      try {
        if (io.now().getTime() - statSync(file).mtimeMs > lastsMs) return undefined
        return JSON.parse(readGuarded(file) ?? '') as Candidate[]
      } catch {
        return undefined
      }
    },
    /** A cache that cannot be written is none. */
    keep: (found: Candidate[]): Candidate[] => {
      const fresh = `${file}.${process.pid}`
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(fresh, JSON.stringify(found), { mode: 0o600 })
        renameSync(fresh, file)
      } catch {
        rmSync(fresh, { force: true })
      }
      return found
    },
  }
}
