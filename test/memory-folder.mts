import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const leastBytes = 4 * 2 ** 30

/**
 * A folder in memory for the temporary files of all tests, which create and delete thousands, many with fsync; undefined
 * where there is none, where it is small, or where no program may be run from it.
 */
export const memoryFolder = (): string | undefined => {
  let folder: string | undefined
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    if (bavail * bsize < leastBytes) return undefined
    folder = mkdtempSync('/dev/shm/svc-')
    // PostgreSQL and the accounts of the guards reach what is theirs in it.
    chmodSync(folder, 0o711)
    const program = join(folder, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 })
    execFileSync(program)
    rmSync(program)
    return folder
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}
