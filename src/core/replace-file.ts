import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { randomToken } from './ids.ts'

type Replacement = {
  write(text: string): void
  /** Puts it in place, after its content is on the disk. */
  keep(): void
  /** Deletes what was written. */
  drop(): void
}

/** Opens a file beside `path` that will replace it as a whole, or not at all. */
export const openReplacement = (path: string, mode = 0o600): Replacement => {
  const part = `${path}.${randomToken(6)}.part`
  const fd = openSync(part, 'wx', mode)
  let isOpen = true
  const close = (): void => {
    if (isOpen) closeSync(fd)
    isOpen = false
  }
  return {
    write: (text) => writeFileSync(fd, text),
    keep: () => {
      fsyncSync(fd)
      close()
      renameSync(part, path)
    },
    drop: () => {
      close()
      rmSync(part, { force: true })
    },
  }
}

/** What `openReplacement` leaves beside `profiles.json`, for example, if the process is killed. */
export const isPartOf = (name: string, of: string): boolean =>
  name.startsWith(`${of}.`) && /^[\w-]{8}\.part$/.test(name.slice(of.length + 1))

/** Replaces a file as a whole, or not at all. `check` runs last, and prevents it by an error. */
export const replaceFile = (path: string, text: string, { mode = 0o600, check = () => {} } = {}): void => {
  const next = openReplacement(path, mode)
  try {
    next.write(text)
    check()
    next.keep()
  } catch (error) {
    next.drop()
    throw error
  }
}
