import { usageError } from '../../core/errors.ts'
import type { Globals } from './run.ts'
import type { Io } from './io.ts'
import { formats, type Format } from './output.ts'

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
