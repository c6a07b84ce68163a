import type { Globals } from './run.ts'
import type { Io, OutputStream } from './io.ts'

/** The flag decides, then FORCE_COLOR (0 and false turn off), NO_COLOR, and whether it is a terminal. */
export const wantsColour = (stream: OutputStream, { io, globals }: { io: Io; globals: Globals }): boolean => {
  if (globals.color === false) return false
  const forced = io.env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (io.env['NO_COLOR']) return false
  return stream.isTTY && io.env['TERM'] !== 'dumb'
}
