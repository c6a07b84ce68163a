import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs } from '../../core/iso-time.ts'
import { sha256 } from '../../core/ids.ts'
import { replaceFile } from '../../core/replace-file.ts'
import type { Io } from '../terminal/io.ts'
import { configDir, readPrivate } from './private-file.ts'

const lifetimeMs = dayMs

/** Deletes expired entries, which can contain names of people. */
const sweep = (folder: string, now: number): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (now - statSync(path).mtimeMs > lifetimeMs) rmSync(path, { force: true })
  }
}

/**
 * A cached value on this machine under a hash of `question`, in a file with mode 0600 next to the profiles. Ignores
 * a cache that cannot be read or written.
 */
export const openDiskCache = <T>({ now, ...io }: Io, question: readonly unknown[]) => {
  const folder = join(configDir(io), 'cache')
  const file = join(folder, `${sha256(JSON.stringify(question)).slice(0, 32)}.json`)
  return {
    /** The value and its age in milliseconds. */
    read: (): { value: T; age: number } | undefined => {
      try {
        const { at, value } = JSON.parse(readPrivate(file, 'cache') ?? '') as { at: number; value: T }
        const age = now().getTime() - at
        return age >= 0 ? { value, age } : undefined
      } catch {
        return undefined
      }
    },
    keep: (value: T): void => {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        replaceFile(file, JSON.stringify({ at: now().getTime(), value }))
        sweep(folder, now().getTime())
      } catch {
        // The next command asks the service again.
      }
    },
  }
}
