import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { randomToken } from './ids.ts'

/** Replaces a file as a whole, or not at all. `check` runs last, and prevents it by an error. */
export const replaceFile = (path: string, text: string, { mode = 0o600, check = () => {} } = {}): void => {
  const part = `${path}.${randomToken(6)}.part`
  const fd = openSync(part, 'wx', mode)
  try {
    try {
      writeFileSync(fd, text)
      check()
      // Only what is on the disk may take the place of the file.
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(part, path)
  } catch (error) {
    rmSync(part, { force: true })
    throw error
  }
}
