import { accessSync, constants, existsSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { usageError, type SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context.ts'
import { pickingFlag } from '../output/accepted.ts'

const unwritable = (flag: string, path: string, error: unknown): SvcError =>
  usageError(`${flag}: cannot write ${safeLine(path)} (${(error as NodeJS.ErrnoException).code})`)

/** Before anything is asked of the service: fails where the picture cannot be written, or a flag shapes data instead. */
export const checkPicture = (flag: string, target: string | undefined, { io, globals }: Context): void => {
  if (target === undefined) return
  const shaping = globals.output === undefined ? pickingFlag(globals) : '-o'
  if (shaping) throw usageError(`${shaping} does not go with ${flag}`, `Leave ${shaping} or ${flag} out`)
  if (target === '-') return
  const path = resolve(io.cwd, target)
  try {
    accessSync(existsSync(path) ? path : dirname(path), constants.W_OK)
    if (existsSync(path) && statSync(path).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
  } catch (error) {
    throw unwritable(flag, path, error)
  }
}

/** Writes to a file, as `>` does, or to stdout for `-`. `flag` is what an error names: `--html`. */
export const writePicture = async (
  flag: string,
  target: string,
  text: string,
  context: Context,
): Promise<void> => {
  if (target === '-') return context.io.stdout.write(text)
  const path = resolve(context.io.cwd, target)
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw unwritable(flag, path, error)
  }
  const output = await context.output()
  output.warn(`Written: ${path}`)
}
