import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context.ts'

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
    throw usageError(`${flag}: cannot write ${safeLine(path)} (${(error as NodeJS.ErrnoException).code})`)
  }
  const output = await context.output()
  output.warn(`Written: ${path}`)
}
