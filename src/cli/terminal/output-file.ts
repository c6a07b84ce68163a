import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type SvcError, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Io } from './io.ts'

/** The error for a file that cannot be written; `flag` is its flag, such as `--html`. */
export const unwritable = (flag: string, path: string, error: unknown): SvcError =>
  usageError(`${flag}: cannot write ${safeLine(path)} (${(error as NodeJS.ErrnoException).code})`)

/** Throws a usage error if a file cannot be created or overwritten. Call it before anything is sent. */
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

/** Creates a private file before anybody is notified, so that the receipt can be saved. Never overwrites a file. */
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
