import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { pickingFlag } from '../terminal/output.ts'
import { checkWritable, unwritable } from '../terminal/output-file.ts'

const flag = '--html'

/** Throws if the page cannot be written, or if another flag asks for data; called before any request. */
export const checkPicture = (target: string | undefined, { io, globals }: Context): void => {
  if (target === undefined) return
  const shaping = globals.output === undefined ? pickingFlag(globals) : '-o'
  if (shaping) throw usageError(`${shaping} cannot be combined with ${flag}`, `Remove ${shaping} or ${flag}`)
  if (target !== '-') checkWritable(flag, target, io)
}

/** Writes the page to a file, or to stdout for `-`. */
export const writePicture = async (target: string, page: string, context: Context): Promise<void> => {
  if (target === '-') return context.io.stdout.write(page)
  const path = resolve(context.io.cwd, target)
  try {
    writeFileSync(path, page)
  } catch (error) {
    throw unwritable(flag, path, error)
  }
  const output = await context.output()
  output.warn(`Written: ${path}`)
}
