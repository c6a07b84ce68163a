import { Chalk } from 'chalk'
import type { Context } from '../context/context.ts'
import { wantsColour } from '../terminal/colour.ts'

/** Colours where stdout has them; every picture can be read without. */
export const paintsFor = ({ io, globals }: Pick<Context, 'io' | 'globals'>) =>
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
