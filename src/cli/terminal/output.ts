import { usageError } from '../../core/errors.ts'
import type { Globals, Io, OutputStream } from './io.ts'
import type { Shape } from './payload.ts'

export const formats = ['table', 'json', 'yaml', 'csv', 'tsv', 'ndjson', 'id'] as const
export type Format = (typeof formats)[number]

/** Output in every format. Only the payload is on stdout, everything else on stderr. */
export type Output = {
  format: Format
  /** JSON is requested, so errors are JSON too. */
  machine: boolean
  /** Shows an envelope's `data`. */
  show(envelope: { status: string; message: string; data?: unknown }, shape?: Shape): Promise<void>
  /** Shows a result of svc itself, in an envelope like those of the service. */
  report(message: string, data?: unknown, shape?: Shape): Promise<void>
  /** Shows what a command without --dry-run would do. `nothing`: `Nothing was changed`. */
  reportDryRun(nothing: string, data: unknown, shape?: Shape): Promise<void>
  /** Prints a line for a person on stderr, only if it is a terminal. */
  note(text: string): void
  /** Prints a line on stderr, always. */
  warn(text: string): void
}

export const isFormat = (word: string): word is Format => (formats as readonly string[]).includes(word)

/** The format of -o; without it, JSON if another flag requires it, a table on a terminal, TSV in a pipe. */
export const chooseFormat = ({ io, globals }: { io: Io; globals: Globals }): Format => {
  const format = globals.output
  if (format !== undefined && !isFormat(format))
    throw usageError(`-o must be ${formats.join(', ')}, not "${format}"`, '-o json')
  if (globals.jq !== undefined && format !== undefined && format !== 'json' && format !== 'ndjson')
    throw usageError(`--jq prints JSON and cannot be combined with -o ${format}`, 'Remove -o')
  if (format !== undefined) return format
  if (globals.jq !== undefined) return 'json'
  return io.stdout.isTTY ? 'table' : 'tsv'
}

/** Whether errors are JSON too. Never throws, because errors about the flags depend on it. */
export const wantsMachine = (globals: Globals): boolean =>
  globals.output === undefined
    ? globals.jq !== undefined
    : ['json', 'ndjson', 'yaml'].includes(globals.output)

/** Decided by the flag, then FORCE_COLOR (0 and false disable colours), NO_COLOR, and whether it is a terminal. */
export const wantsColour = (stream: OutputStream, { io, globals }: { io: Io; globals: Globals }): boolean => {
  if (globals.color === false) return false
  const forced = io.env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (io.env['NO_COLOR']) return false
  return stream.isTTY && io.env['TERM'] !== 'dumb'
}

/** The typed flag that selects parts of an answer. */
export const pickingFlag = ({ jq }: Globals): string | undefined => (jq === undefined ? undefined : '--jq')

/** Whether the output is for a person: a table, which is the default. */
export const isForPeople = ({ globals }: { globals: Globals }): boolean =>
  (globals.output ?? 'table') === 'table' && pickingFlag(globals) === undefined
