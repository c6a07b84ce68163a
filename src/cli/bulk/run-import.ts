import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { resolve } from 'node:path'
import { usageError, type SvcError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import type { Output } from '../terminal/output.ts'
import type { Checked } from './check-rows.ts'
import { conflictModes, type Item, type Kind } from './kind.ts'
import { createTally, grouped, quantity, startProgress } from './progress.ts'
import { openResults, type Status } from './results.ts'
import { sendRows } from './send-rows.ts'
import { checkFormat } from './read-file.ts'

/** The flags as typed. */
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

/** Checks the flags. */
export const readImportOptions = (
  file: string,
  { onConflict = 'fail', concurrency = '16', ...typed }: TypedImport,
  kind: Kind,
) => {
  const mode = conflictModes.find((one) => one === onConflict)
  if (!mode) throw usageError(`--on-conflict must be ${conflictModes.join(', ')}, not "${onConflict}"`)
  if (!/^(?:[1-9]|[1-5]\d|6[0-4])$/.test(concurrency))
    throw usageError(`--concurrency must be a number from 1 to 64, not "${concurrency}"`)
  return {
    file,
    format: checkFormat(typed.format, kind),
    mode,
    concurrency: Number(concurrency),
    resume: typed.resume === true,
    skipInvalid: typed.skipInvalid === true,
    dryRun: typed.dryRun === true,
    /** The result file, for people. */
    results: typed.results ?? `${file === '-' ? `${kind.file}-import` : file}.results.ndjson`,
  }
}
export type ImportOptions = ReturnType<typeof readImportOptions>

/** The time for requests in progress to finish after Ctrl-C. */
const graceMs = 10_000

export type Failure = { row: number; error: SvcError }

/** The service's error for a row. */
export const failureText = ({ error: { message, issues = [] } }: Failure): string => {
  const more = issues.map(({ field, message: why }) => `${field} ${why}`)
  return more.length > 0 ? `${message} (${more.join('; ')})` : message
}

export type Imported = {
  counts: Record<Status, number>
  /** Failures of this run. */
  failures: ReturnType<typeof createTally<Failure>>
  /** Why the import stopped early. */
  stopped?: SvcError | undefined
}

/** The same for the same row of the same import: a row whose response was lost is not imported twice. */
const idempotencyKey = (run: string, { input }: Item): string =>
  createHash('sha256')
    .update(`${run} ${JSON.stringify(input)}`)
    .digest('base64url')

/** Sends the remaining rows, prints the progress, and records the result of each row. */
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
  const failures = createTally(failureText)
  for (const one of invalid) results.leaveOut(one)
  const todo = items.filter(({ key }) => {
    const status = results.before.get(key)
    if (status === undefined || status === 'failed') return true
    counts[status] += 1
    return false
  })
  let done = items.length - todo.length
  output.note(
    `${grouped(todo.length)} of ${quantity(items.length, kind)} to import into organization ${org} at ${service}`,
  )

  const hard = new AbortController()
  setMaxListeners(0, hard.signal)
  const interrupt = (): void => {
    // The terminal has printed ^C after the progress.
    output.note('')
    output.warn('Finishing the requests in progress. Press Ctrl-C again to stop immediately')
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
