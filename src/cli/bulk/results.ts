import {
  accessSync,
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { safeJson, safeLine } from '../../core/safe-text.ts'
import { requirePlainFile } from '../terminal/output-file.ts'
import type { Invalid } from './check-rows.ts'
import type { Item, Outcome } from './kind.ts'

/** What is imported, and where. --resume refuses the result file of another target. */
export type Target = { import: string; service: string; org_id: number }

export type Result = Outcome | { status: 'failed'; error: SvcError }
export type Status = Result['status']

type Written = { event?: string; run?: string; key?: string; status?: Status } & Partial<Target>

/** A result file: a start line with the target, one line for each row, and an end line. */
export type Results = {
  /** Identifies this import, also after a crash. */
  run: string
  /** The status of the rows of earlier runs, by key. */
  before: ReadonlyMap<string, Status>
  write(item: Item, result: Result): void
  /** Records a row that is not sent. */
  leaveOut(invalid: Invalid): void
  end(summary: object): void
  close(): void
}

const beginning = Buffer.from('{"event":"start"')

type Place = { path: string; shown: string; resume: boolean }

const another = 'Use --results FILE to choose another file'

const notResults = (path: string): SvcError =>
  usageError(`${safeLine(path)} is not a result file of an import`, another)

/** The complete lines of a file, which a crash may have cut off, and their length in bytes. */
const readLines = (path: string): { lines: Written[]; whole: number } | undefined => {
  requirePlainFile(path, path, another)
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw usageError(`The result file ${safeLine(path)} cannot be read`, another)
  }
  if (bytes.length > 0 && !bytes.subarray(0, beginning.length).equals(beginning)) throw notResults(path)
  const whole = bytes.lastIndexOf(0x0a) + 1
  try {
    const lines = bytes.toString('utf8', 0, whole).split('\n').filter(Boolean)
    return { lines: lines.map((line) => JSON.parse(line) as Written), whole }
  } catch {
    throw notResults(path)
  }
}

const unwritable = (path: string, error: unknown): SvcError =>
  usageError(
    `The result file ${safeLine(path)} cannot be written: ${(error as NodeJS.ErrnoException).code}`,
    another,
  )

const open = (path: string, flags: string): number => {
  try {
    return openSync(path, flags, 0o600)
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** Throws if the import cannot start over this file or, with --resume, cannot continue it. */
const refuse = (found: ReturnType<typeof readLines>, { shown, resume }: Place, target: Target): void => {
  const first = found?.lines[0]
  if (resume) {
    if (!first) throw usageError(`There is nothing to resume: ${shown} does not exist`, 'Remove --resume')
    const same = (['import', 'service', 'org_id'] as const).every((name) => first[name] === target[name])
    if (!same || !first.run)
      throw usageError(
        `${shown} belongs to another import: ${safeLine(String(first.import))} into organization ${safeLine(String(first.org_id))} at ${safeLine(String(first.service))}`,
        'Use --results FILE to name the right one',
      )
  } else if (found && found.whole > 0 && found.lines.at(-1)?.event !== 'end')
    throw usageError(
      `${shown} belongs to an import that did not finish`,
      'Use --resume to continue it. To start again, delete it or use --results FILE',
    )
}

/** Throws a usage error if the result file cannot be opened. Changes nothing. */
export const checkResults = (place: Place, target: Target): void => {
  const { path, resume } = place
  refuse(readLines(path), place, target)
  try {
    accessSync(resume ? path : dirname(path), constants.W_OK)
  } catch (error) {
    throw unwritable(path, error)
  }
}

/** Opens a new result file (0600) or one to continue. Throws a usage error before anything was sent. */
export const openResults = (
  { keyColumn, ...place }: Place & { keyColumn: string },
  target: Target,
): Results => {
  const { path, resume } = place
  const found = readLines(path)
  refuse(found, place, target)
  // Removed and not truncated: the old file may have another mode, or be a link.
  if (!resume) rmSync(path, { force: true })
  const file = open(path, resume ? 'r+' : 'wx')
  const run = (resume && found?.lines[0]?.run) || randomUUID()
  let position = resume ? found!.whole : 0
  ftruncateSync(file, position)
  const put = (line: object): void => {
    position += writeSync(file, `${safeJson(line)}\n`, position)
  }
  const before = new Map<string, Status>()
  if (resume) {
    for (const line of found!.lines)
      if (line.status && keyColumn in line)
        before.set(String((line as Record<string, unknown>)[keyColumn]), line.status)
  } else put({ event: 'start', ...target, run })
  return {
    run,
    before,
    write: ({ row, key }, result) => {
      const { status } = result
      const named = { row, [keyColumn]: key, status }
      if (result.status !== 'failed')
        return put({ ...named, ...(result.id !== undefined && { id: result.id }) })
      const { code, message, request_id, issues } = result.error
      put({ ...named, error: { code, message, issues, request_id } })
    },
    leaveOut: ({ row, issues }) => put({ row, status: 'invalid', error: { code: 'invalid_row', issues } }),
    end: (summary) => put({ event: 'end', ...summary }),
    close: () => closeSync(file),
  }
}
