import type { Command } from 'commander'
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
  reportDryRun(nothing: string, data: unknown): Promise<void>
  /** Prints a line for a person on stderr, only if it is a terminal. */
  note(text: string): void
  /** Prints a line on stderr, always. */
  warn(text: string): void
}

const isFormat = (word: string): word is Format => (formats as readonly string[]).includes(word)

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

/** Commands that print text, with their other formats. --jq does not apply to them. */
export const printsText: Record<string, readonly Format[]> = {
  completion: [],
  demo: [],
  export: ['yaml'],
  'geofence map': [],
  'guard exec': [],
  'guard git': [],
  'guard ssh': [],
  help: [],
  'hook run': [],
  mcp: [],
  serve: ['json'],
  'timeslot week': [],
}

/** Commands outside the table whose answer has an id. */
export const answersId: ReadonlySet<string> = new Set([
  'api',
  'approve inbox',
  'approve request',
  'approve run',
  'approve wait',
])

const fromTable = new WeakSet<Command>()

/** Marks a command of the table: its answer can have an id. */
export const isOfTable = (command: Command): Command => {
  fromTable.add(command)
  return command
}

/** The typed flag that selects parts of an answer. */
export const pickingFlag = ({ jq }: Globals): string | undefined => (jq === undefined ? undefined : '--jq')

/** Whether the output is for a person: a table, which is the default. */
export const isForPeople = ({ globals }: { globals: Globals }): boolean =>
  (globals.output ?? 'table') === 'table' && pickingFlag(globals) === undefined

/** Throws a usage error for a flag that this command would ignore or could not apply to its answer. */
export const checkAccepted = (command: Command, words: string, globals: Globals): void => {
  const { output, jq } = globals
  const only = Object.hasOwn(printsText, words) ? printsText[words]! : undefined
  if (only && jq !== undefined) throw usageError(`svc ${words} does not support --jq`, `svc ${words} --help`)
  if (output === 'id' && !only && !fromTable.has(command) && !answersId.has(words))
    throw usageError(`svc ${words} has no id in its answer`, '-o json shows the answer')
  if (only && output !== undefined && isFormat(output) && !only.includes(output))
    throw usageError(
      `svc ${words} does not support -o ${output}`,
      only.length > 0 ? `-o ${only.join(' or -o ')}` : 'Remove -o',
    )
}
