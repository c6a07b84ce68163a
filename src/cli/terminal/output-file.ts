import { closeSync, existsSync, ftruncateSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../../core/errors.ts'
import type { Io } from './io.ts'

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
      // Another program may have written to it meanwhile.
      ftruncateSync(fd)
      writeFileSync(fd, text)
      closeSync(fd)
    },
    giveUp: () => {
      closeSync(fd)
      unlinkSync(path)
    },
  }
}
