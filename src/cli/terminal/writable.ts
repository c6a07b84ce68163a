import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { usageError, type SvcError } from '../../core/errors.ts'
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
