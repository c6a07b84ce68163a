import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { pickingFlag } from '../terminal/accepted.ts'
import { checkWritable, unwritable } from '../terminal/writable.ts'

/** Before anything is asked of the service: fails where the picture cannot be written, or a flag shapes data instead. */
export const checkPicture = (flag: string, target: string | undefined, { io, globals }: Context): void => {
  if (target === undefined) return
  const shaping = globals.output === undefined ? pickingFlag(globals) : '-o'
  if (shaping)
    throw usageError(`${shaping} cannot be combined with ${flag}`, `Leave ${shaping} or ${flag} out`)
  if (target === '-') return
  checkWritable(flag, target, io)
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
