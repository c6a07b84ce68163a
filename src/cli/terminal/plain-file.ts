import { lstatSync } from 'node:fs'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'

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
