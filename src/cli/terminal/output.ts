import type { Command } from 'commander'
import { usageError } from '../../core/errors.ts'
import type { Globals, Io, OutputStream, Pager } from './io.ts'
import { fieldsNeeded, namesIn, type Shape } from './payload.ts'

export const formats = ['table', 'json', 'yaml', 'csv', 'tsv', 'ndjson', 'id'] as const
export type Format = (typeof formats)[number]

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

/** As git and gh: SVC_PAGER before PAGER, empty or `cat` is none, `less` where nothing is said. */
const pagerOf = ({ io: { env }, globals }: { io: Io; globals: Globals }): Pager | undefined => {
  if (globals.input === false || env['CI'] || env['TERM'] === 'dumb') return undefined
  const command = env['SVC_PAGER'] ?? env['PAGER']
  if (command?.trim() === '' || command === 'cat') return undefined
  return {
    command,
    env: {
      // Quit at once what fits, colours, leave the text on the screen.
      LESS: env['LESS'] ?? 'FRX',
      // What was searched for may be a person's number.
      LESSHISTFILE: '-',
    },
  }
}

const rowsOf = (text: string, columns: number): number =>
  text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / columns)), -1)

/** Writes to stdout; through a pager where that is a terminal on which the text does not fit. */
export const writePaged = async (
  text: string,
  { io, globals }: { io: Io; globals: Globals },
): Promise<void> => {
  const { isTTY, rows, columns } = io.stdout
  const isLong = isTTY && rows !== undefined && rowsOf(text, columns) >= rows
  const pager = isLong ? pagerOf({ io, globals }) : undefined
  const isShown = pager !== undefined && io.page !== undefined && (await io.page(text, pager))
  if (!isShown) io.stdout.write(text)
}

/** Commands that print text, and the formats that they have besides. --json, --jq and --envelope do not apply to them. */
export const printsText: Record<string, readonly Format[]> = {
  completion: [],
  demo: [],
  export: ['yaml'],
  help: [],
  mcp: [],
  serve: ['json'],
}

/** Commands that are not from the table and answer an id. */
export const answersId: ReadonlySet<string> = new Set([
  'api',
  'approve inbox',
  'approve request',
  'approve run',
  'approve wait',
])

const fromTable = new WeakSet<Command>()

/** A command that is made from the table: where --json names no field, it lists those of its answer. */
export const listsFields = (command: Command): Command => {
  fromTable.add(command)
  return command
}

/** The flag that picks from an answer, where one is given: `--jq`. */
export const pickingFlag = ({ json, jq, envelope }: Globals): string | undefined => {
  const [name] = Object.entries({ json, jq, envelope }).find(([, value]) => value !== undefined) ?? []
  return name && `--${name}`
}

/** Fails with a usage error where a flag is given that this command would ignore, or could not honour once it is done. */
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
  const isKnown = (formats as readonly string[]).includes(output ?? '')
  if (only && isKnown && !(only as readonly string[]).includes(output!))
    throw usageError(
      `svc ${words} does not support -o ${output}`,
      only.length > 0 ? `-o ${only.join(' or -o ')}` : 'Remove -o',
    )
}
