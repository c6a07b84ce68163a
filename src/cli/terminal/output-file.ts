import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type SvcError, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from './io.ts'

/** `flag` is what the file was given with: `--html`. */
export const unwritable = (flag: string, path: string, error: unknown): SvcError =>
  usageError(`${flag}: cannot write ${safeLine(path)} (${(error as NodeJS.ErrnoException).code})`)

/** Before anything is sent: fails with a usage error where a file can neither be made nor written over. */
export const checkWritable = (flag: string, file: string, { cwd }: Pick<Io, 'cwd'>): void => {
  const path = resolve(cwd, file)
  try {
    const isThere = existsSync(path)
    if (isThere && statSync(path).isDirectory())
      throw Object.assign(new Error('A folder'), { code: 'EISDIR' })
    accessSync(isThere ? path : dirname(path), constants.W_OK)
  } catch (error) {
    throw unwritable(flag, path, error)
  }
}

/**
 * Fails where something else than a regular file stands at a path that svc is about to replace: a link or a device such
 * as /dev/null would be gone, and a pipe would never end. `shown` is the path as people see it.
 */
export const requirePlainFile = (path: string, shown: string, hint: string): void => {
  let plain: boolean | undefined
  try {
    plain = lstatSync(path, { throwIfNoEntry: false })?.isFile()
  } catch {
    // A folder that cannot be looked into: writing says why.
  }
  if (plain === false)
    throw usageError(`${safeLine(shown)} is not a regular file and is not overwritten`, hint)
}

/** A file of one's own, taken before anybody is rung, so that a proof has its place; what is there is never overwritten. */
export const reserveFile = (
  file: string,
  flag: string,
  { cwd }: Pick<Io, 'cwd'>,
): { path: string; write(text: string): void; giveUp(): void } => {
  const path = resolve(cwd, file)
  if (existsSync(path))
    throw usageError(
      `--${flag}: ${path} already exists and is not overwritten`,
      `--${flag} with another name`,
    )
  let fd: number
  try {
    fd = openSync(path, 'wx', 0o600)
  } catch (error) {
    throw usageError(`--${flag}: cannot write ${path} (${(error as NodeJS.ErrnoException).code})`)
  }
  return {
    path,
    write: (text) => {
      writeFileSync(fd, text)
      closeSync(fd)
    },
    giveUp: () => {
      closeSync(fd)
      unlinkSync(path)
    },
  }
}
