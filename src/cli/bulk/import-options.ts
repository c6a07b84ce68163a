import { usageError } from '../../core/errors.ts'
import { conflictModes, type ConflictMode, type FileFormat, type Kind } from './kind.ts'
import { checkFormat } from './read-file.ts'

/** The flags as commander has them. */
export type TypedImport = {
  org?: string
  format?: string
  onConflict?: string
  results?: string
  resume?: boolean
  skipInvalid?: boolean
  concurrency?: string
  dryRun?: boolean
}

export type ImportOptions = {
  file: string
  format?: FileFormat
  mode: ConflictMode
  concurrency: number
  resume: boolean
  skipInvalid: boolean
  dryRun: boolean
  /** The result file, as people see it. */
  results: string
}

const modeOf = (typed = 'fail'): ConflictMode => {
  if ((conflictModes as readonly string[]).includes(typed)) return typed as ConflictMode
  throw usageError(`--on-conflict must be ${conflictModes.join(', ')}, not "${typed}"`)
}

const concurrencyOf = (typed = '16'): number => {
  if (/^\d{1,2}$/.test(typed) && Number(typed) >= 1 && Number(typed) <= 64) return Number(typed)
  throw usageError(`--concurrency must be a number from 1 to 64, not "${typed}"`)
}

/** What was typed, checked. `words` are those of the command: `user import`. */
export const readImportOptions = (
  words: string,
  file: string | undefined,
  typed: TypedImport,
  kind: Kind,
): ImportOptions => {
  if (file === undefined || file === '')
    throw usageError('Missing <file>; - for standard input', `svc ${words} ${kind.file}.csv --org acme`)
  return {
    file,
    format: checkFormat(typed.format, kind),
    mode: modeOf(typed.onConflict),
    concurrency: concurrencyOf(typed.concurrency),
    resume: typed.resume === true,
    skipInvalid: typed.skipInvalid === true,
    dryRun: typed.dryRun === true,
    results: typed.results ?? `${file === '-' ? `${kind.file}-import` : file}.results.ndjson`,
  }
}
