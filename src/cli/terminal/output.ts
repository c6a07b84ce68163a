import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import type { Globals, Io, OutputStream } from './io.ts'
import { fieldsNeeded, namesIn, type Shape } from './payload.ts'

export const formats = ['table', 'json', 'yaml', 'csv', 'tsv', 'ndjson', 'id'] as const
export type Format = (typeof formats)[number]

/** Output in every format. Only the payload is on stdout, everything else on stderr. */
export type Output = {
  format: Format
  /** JSON is requested, so errors are JSON too. */
  machine: boolean
  /** Shows an envelope's `data`, or the whole with --envelope. */
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
  if (globals.envelope && format !== undefined && format !== 'json' && format !== 'yaml')
    throw usageError(`--envelope requires -o json or yaml, not -o ${format}`, '-o json --envelope')
  if (format !== undefined) return format
  if (globals.json !== undefined || globals.jq !== undefined || globals.envelope) return 'json'
  return io.stdout.isTTY ? 'table' : 'tsv'
}

/** Whether errors are JSON too. Never throws, because errors about the flags depend on it. */
export const wantsMachine = (globals: Globals): boolean =>
  globals.output === undefined
    ? typeof globals.json === 'string' || globals.jq !== undefined || globals.envelope === true
    : ['json', 'ndjson', 'yaml'].includes(globals.output)

/** Decided by the flag, then FORCE_COLOR (0 and false disable colours), NO_COLOR, and whether it is a terminal. */
export const wantsColour = (stream: OutputStream, { io, globals }: { io: Io; globals: Globals }): boolean => {
  if (globals.color === false) return false
  const forced = io.env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (io.env['NO_COLOR']) return false
  return stream.isTTY && io.env['TERM'] !== 'dumb'
}

/** Commands that print text, with their other formats. --json, --jq and --envelope do not apply to them. */
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

/** Marks a command of the table: --json without names lists the fields of its answer. */
export const listsFields = (command: Command): Command => {
  fromTable.add(command)
  return command
}

/** The typed flag that selects parts of an answer: `--jq`. */
export const pickingFlag = ({ json, jq, envelope }: Globals): string | undefined => {
  const [name] = Object.entries({ json, jq, envelope }).find(([, value]) => value !== undefined) ?? []
  return name && `--${name}`
}

/** Throws a usage error for a flag that this command would ignore or could not apply to its answer. */
export const checkAccepted = (command: Command, words: string, globals: Globals): void => {
  const { output, json } = globals
  const only = Object.hasOwn(printsText, words) ? printsText[words]! : undefined
  const picking = pickingFlag(globals)
  if (words === 'api' && globals.envelope)
    throw usageError('svc api shows the whole answer without --envelope')
  if (only && picking) throw usageError(`svc ${words} does not support ${picking}`, `svc ${words} --help`)
  if (json !== undefined && (json === true || namesIn(json).length === 0) && !fromTable.has(command))
    throw fieldsNeeded([])
  if (output === 'id' && !only && !fromTable.has(command) && !answersId.has(words))
    throw usageError(`svc ${words} has no id in its answer`, '-o json shows the answer')
  if (only && output !== undefined && isFormat(output) && !only.includes(output))
    throw usageError(
      `svc ${words} does not support -o ${output}`,
      only.length > 0 ? `-o ${only.join(' or -o ')}` : 'Remove -o',
    )
}
