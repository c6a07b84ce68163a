import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Chalk } from 'chalk'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { pickingFlag, wantsColour } from '../terminal/output.ts'
import { checkWritable, unwritable } from '../terminal/output-file.ts'

/** Colours if stdout supports them; every picture can be read without. */
export const colorsFor = ({ io, globals }: Pick<Context, 'io' | 'globals'>) =>
  new Chalk({ level: wantsColour(io.stdout, { io, globals }) ? 1 : 0 })

/** Whether to draw a picture, and not print data. */
export const wantsPicture = ({ globals }: Pick<Context, 'globals'>): boolean =>
  globals.output === undefined && pickingFlag(globals) === undefined

/** The width of stdout, at most `most`; in a pipe, 80. */
export const pictureWidth = ({ io: { stdout } }: Pick<Context, 'io'>, most: number): number =>
  stdout.isTTY ? Math.min(stdout.columns, most) : 80

/** Throws if the picture cannot be written, or if another flag asks for data; called before any request. */
export const checkPicture = (flag: string, target: string | undefined, { io, globals }: Context): void => {
  if (target === undefined) return
  const shaping = globals.output === undefined ? pickingFlag(globals) : '-o'
  if (shaping) throw usageError(`${shaping} cannot be combined with ${flag}`, `Remove ${shaping} or ${flag}`)
  if (target !== '-') checkWritable(flag, target, io)
}

/** Writes to a file, or to stdout for `-`. An error names `flag`. */
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
