import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Chalk } from 'chalk'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { pickingFlag, wantsColour } from '../terminal/output.ts'
import { checkWritable, unwritable } from '../terminal/output-file.ts'

/** Colours where stdout has them; every picture can be read without. */
export const colorsFor = ({ io, globals }: Pick<Context, 'io' | 'globals'>) =>
  new Chalk({ level: wantsColour(io.stdout, { io, globals }) ? 1 : 0 })

/** A picture, unless a flag asks for the data: piped it is the same text, 80 wide. */
export const wantsPicture = ({ globals }: Pick<Context, 'globals'>): boolean =>
  globals.output === undefined &&
  globals.json === undefined &&
  globals.jq === undefined &&
  globals.envelope === undefined

/** Of stdout: a picture is no wider than this, be the terminal as wide as it may. */
export const pictureWidth = ({ io: { stdout } }: Pick<Context, 'io'>, most: number): number =>
  stdout.isTTY ? Math.min(stdout.columns, most) : 80

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
