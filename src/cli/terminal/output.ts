import { usageError } from '../../core/errors.ts'
import type { Globals, Io, OutputStream } from './io.ts'

export const formats = ['table', 'json', 'yaml', 'csv', 'tsv', 'ndjson', 'id'] as const
export type Format = (typeof formats)[number]

export type Shape = {
  /** Columns of a table and of TSV, in order; without it, the scalar fields of the first row. */
  columns?: readonly string[]
  /** Fields that an answer can have: one that is picked and absent is null. Without it, what is there can be picked. */
  known?: readonly string[]
  /** Fields with what is answered once and never again: left out of what is printed, they are lost. */
  once?: ReadonlySet<string>
  /** Fields that the table of a record leaves out; CSV and JSON have them. */
  folded?: readonly string[]
  /** Fields whose values are masked in a table on a terminal, at any depth. */
  masked?: ReadonlySet<string>
  /** JSON where nobody says how it is shown. */
  document?: boolean
  /** Rows that were shown before: a table goes on below them. */
  above?: readonly unknown[]
  /** The whole envelope, as with --envelope. */
  whole?: boolean
  /** Goes through a pager where it is longer than the terminal. */
  paged?: boolean
}

/** One output service for every format. The payload alone is on stdout, all else on stderr. */
export type Output = {
  format: Format
  /** JSON is asked for, so errors are JSON too. */
  machine: boolean
  /** Shows an envelope's `data`, or the whole with --envelope. */
  show(envelope: { status: string; message: string; data?: unknown }, shape?: Shape): Promise<void>
  /** A line for a person, on stderr; silent when stderr is no terminal. */
  note(text: string): void
  /** As `note`, but always. */
  warn(text: string): void
}

const isFormat = (word: string): word is Format => (formats as readonly string[]).includes(word)

/** What -o says; without it, JSON when a flag asks for it, a table on a terminal, TSV when piped. */
export const chooseFormat = ({ io, globals }: { io: Io; globals: Globals }): Format => {
  const asked = globals.output
  if (asked !== undefined && !isFormat(asked))
    throw usageError(`-o must be ${formats.join(', ')}, not "${asked}"`, '-o json')
  if (globals.jq !== undefined && asked !== undefined && asked !== 'json' && asked !== 'ndjson')
    throw usageError(`--jq prints JSON and cannot be combined with -o ${asked}`, 'Remove -o')
  if (globals.envelope && asked !== undefined && asked !== 'json' && asked !== 'yaml')
    throw usageError(`--envelope requires -o json or yaml, not -o ${asked}`, '-o json --envelope')
  if (asked !== undefined) return asked
  if (globals.json !== undefined || globals.jq !== undefined || globals.envelope) return 'json'
  return io.stdout.isTTY ? 'table' : 'tsv'
}

/** Whether errors are JSON too. Never fails: an error about the flags themselves is shown by it. */
export const wantsMachine = (globals: Globals): boolean =>
  globals.output === undefined
    ? typeof globals.json === 'string' || globals.jq !== undefined || globals.envelope === true
    : ['json', 'ndjson', 'yaml'].includes(globals.output)

/** The flag decides, then FORCE_COLOR (0 and false turn off), NO_COLOR, and whether it is a terminal. */
export const wantsColour = (stream: OutputStream, { io, globals }: { io: Io; globals: Globals }): boolean => {
  if (globals.color === false) return false
  const forced = io.env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (io.env['NO_COLOR']) return false
  return stream.isTTY && io.env['TERM'] !== 'dumb'
}
