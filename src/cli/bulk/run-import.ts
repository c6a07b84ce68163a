import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { resolve } from 'node:path'
import { usageError, type SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Output } from '../terminal/output.ts'
import type { Checked } from './check-rows.ts'
import { conflictModes, type ConflictMode, type FileFormat, type Item, type Kind } from './kind.ts'
import { createTally, grouped, startProgress } from './progress.ts'
import { openResults, type Status } from './results.ts'
import { sendRows } from './send-rows.ts'
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
  format?: FileFormat | undefined
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

/** Rows on their way get so long to come to their end after Ctrl-C, milliseconds. */
const graceMs = 10_000

export type Failure = { row: number; error: SvcError }

/** What the service says of a row. */
export const wordsOf = ({ error: { message, issues = [] } }: Failure): string => {
  const more = issues.map(({ field, message: why }) => `${field} ${why}`)
  return more.length > 0 ? `${message} (${more.join('; ')})` : message
}

export type Imported = {
  counts: Record<Status, number>
  /** Those that failed in this run. */
  failures: ReturnType<typeof createTally<Failure>>
  /** Why it ended early. */
  stopped?: SvcError | undefined
}

/** The same for the same row of the same import, so that a row whose answer was lost is not done twice. */
const idempotencyKey = (run: string, { input }: Item): string =>
  createHash('sha256')
    .update(`${run} ${JSON.stringify(input)}`)
    .digest('base64url')

/** Sends what is not done yet, tells how it goes, and keeps how each row ended. */
export const importRows = async (
  kind: Kind,
  { items, invalid }: Pick<Checked, 'items' | 'invalid'>,
  to: { org: number; service: string; options: ImportOptions },
  { context, output }: { context: Context; output: Output },
): Promise<Imported> => {
  const { io } = context
  const { org, service, options } = to
  const { mode, concurrency, resume, results: shown } = options
  const client = await context.client()
  const send = await kind.open({ client, org, mode, signal: io.signal, resumed: resume })
  const results = openResults(
    { path: resolve(io.cwd, shown), shown, resume, keyColumn: kind.keyColumn },
    { import: kind.file, service, org_id: org },
  )

  const counts: Imported['counts'] = { created: 0, updated: 0, skipped: 0, failed: 0 }
  const failures = createTally(wordsOf)
  for (const one of invalid) results.leaveOut(one)
  const todo = items.filter(({ key }) => {
    const status = results.before.get(key)
    if (status === undefined || status === 'failed') return true
    counts[status] += 1
    return false
  })
  let done = items.length - todo.length
  output.note(
    `${grouped(todo.length)} of ${grouped(items.length)} ${kind.many} to import into organization ${org} at ${service}`,
  )

  const hard = new AbortController()
  setMaxListeners(0, hard.signal)
  const interrupt = (): void => {
    // The terminal has written ^C behind the progress.
    output.note('')
    output.warn('Finishing the requests in progress. Press Ctrl-C again to stop at once')
    setTimeout(() => hard.abort(), graceMs).unref()
  }
  io.signal.addEventListener('abort', interrupt, { once: true })
  const progress = startProgress(io.stderr, () => ({ done, failed: counts.failed, total: items.length }))
  try {
    const stopped = await sendRows({
      items: todo,
      concurrency,
      signal: io.signal,
      send: (item) => send(item, { signal: hard.signal, idempotencyKey: idempotencyKey(results.run, item) }),
      paused: (ms) => output.warn(`Rate limit: waiting ${Math.ceil(ms / 1000)} s`),
      done: (item, result) => {
        results.write(item, result)
        done += 1
        counts[result.status] += 1
        if (result.status === 'failed') failures.add({ row: item.row, error: result.error })
      },
    })
    if (!stopped && done === items.length)
      results.end(invalid.length > 0 ? { ...counts, invalid: invalid.length } : counts)
    return { counts, failures, stopped }
  } finally {
    progress.end()
    io.signal.removeEventListener('abort', interrupt)
    results.close()
  }
}
