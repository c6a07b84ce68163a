import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../core/ids.ts'
import type { Io } from '../terminal/io.ts'
import { configDir, readGuarded } from './private-file.ts'

const keptMs = 24 * 60 * 60_000

/** Takes away what nobody would use any more: it can hold names of people. */
const sweep = (folder: string, now: number): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (now - statSync(path).mtimeMs > keptMs) rmSync(path, { force: true })
  }
}

/**
 * What svc remembers for a while, on this machine, about one question; of the question only a hash is kept. 0600 beside
 * the profiles. A cache that cannot be read or written is none.
 */
export const openDiskCache = <T>({ now, ...io }: Io, question: readonly unknown[]) => {
  const folder = join(configDir(io), 'cache')
  const file = join(folder, `${sha256(JSON.stringify(question)).slice(0, 32)}.json`)
  return {
    /** With its age, milliseconds. */
    read: (): { value: T; age: number } | undefined => {
      try {
        const { at, value } = JSON.parse(readGuarded(file, 'cache') ?? '') as { at: number; value: T }
        const age = now().getTime() - at
        return age >= 0 ? { value, age } : undefined
      } catch {
        return undefined
      }
    },
    keep: (value: T): void => {
      const fresh = `${file}.${process.pid}`
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(fresh, JSON.stringify({ at: now().getTime(), value }), { mode: 0o600 })
        renameSync(fresh, file)
        sweep(folder, now().getTime())
      } catch {
        rmSync(fresh, { force: true })
      }
    },
  }
}
