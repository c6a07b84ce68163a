import { resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { requireOrg, resolveOrg } from '../context/organization.ts'
import { failureText, importRows, readImportOptions, type Imported, type TypedImport } from './run-import.ts'
import { checkRows } from './check-rows.ts'
import { isConflict, type Kind } from './kind.ts'
import { grouped, quantity } from './progress.ts'
import { readRows, sourceName } from './read-file.ts'
import { checkResults } from './results.ts'

/** Prints the first failures; the result file contains all of them. */
const printFailures = (
  { failures, counts }: Imported,
  results: string,
  warn: (text: string) => void,
): void => {
  const { shown, left } = failures.report()
  const isAll = shown.every(({ more }) => more === '') && left === 0
  for (const { item, more } of isAll ? shown.toSorted((a, b) => a.item.row - b.item.row) : shown)
    warn(`row ${item.row}: ${failureText(item)}${more}`)
  if (left > 0) warn(`and ${grouped(left)} more`)
  if (!isAll || counts.failed > failures.count) warn(`${results} contains all of them`)
  if (shown.some(({ item }) => isConflict(item.error)))
    warn('hint: --on-conflict skip keeps existing rows, --on-conflict update changes them')
}

const skippedText = (rows: number): string =>
  rows === 1 ? '1 invalid row was skipped' : `${grouped(rows)} invalid rows were skipped`

/** Prints the errors of the invalid rows that are skipped. */
const printInvalid = (
  { issues = [], detail }: SvcError,
  rows: number,
  warn: (text: string) => void,
): void => {
  for (const { field, message } of issues) warn(`${safeLine(field)}: ${safeLine(message)}`)
  if (detail !== undefined) warn(detail)
  warn(`${skippedText(rows)}.`)
}

/** The error for an import that stopped early, with the command that continues it. */
const stoppedError = ({ counts, stopped }: Imported, total: number, resume: string): SvcError => {
  const done = counts.created + counts.updated + counts.skipped
  const progress = `${grouped(done)} of ${grouped(total)} rows are done`
  const hint = `${resume} continues`
  if (!stopped) return new SvcError('interrupted', 'interrupted', `Interrupted; ${progress}`, { hint })
  const { exit, code, message, request_id, hint: own } = stopped
  return new SvcError(exit, code, `Stopped; ${progress}. ${message}`, { detail: own, hint, request_id })
}

/** `svc user import`: reads and checks all rows, then sends them and records the result of each. */
export const runImport = async (
  kind: Kind,
  file: string | undefined,
  typed: TypedImport,
  context: Context,
): Promise<void> => {
  const command = `${kind.group} import`
  if (file === undefined || file === '')
    throw usageError(
      'Missing <file>; - for standard input',
      await context.command!.again({ args: [`${kind.file}.csv`] }),
    )
  const options = readImportOptions(file, typed, kind)
  if (options.file === '-' && context.globals.keyFile === '-')
    throw usageError('The rows and --key-file cannot both be standard input')
  const [settings, output] = [await context.settings(), await context.output()]
  const wanted = await requireOrg(typed.org, context)

  const source = sourceName(options.file)
  const { rows, sha256 } = await readRows(options.file, options.format, kind, context.io)
  if (rows.length >= 20_000) output.note(`Checking ${grouped(rows.length)} rows`)
  const checked = await checkRows(rows, kind, source, context.io.signal)
  const { items, invalid, problem } = checked
  if (problem && items.length === 0) throw problem
  if (problem && !options.skipInvalid) {
    const again = await context.command!.again({ plus: ['--skip-invalid'] })
    throw problem.with({ hint: `${again} sends the other ${grouped(items.length)}` })
  }
  const { id: org } = await resolveOrg(wanted, context)
  if (problem) printInvalid(problem, invalid.length, output.warn)
  if (options.dryRun) {
    const { showDryRun } = await import('../operation/dry-run.ts')
    const { input } = items[0]!
    const first = { [kind.orgField]: org, ...(kind.bodyOf?.(input) ?? input) }
    await showDryRun(kind.create, first, {}, context, { rows: items.length })
    const others = problem ? `${skippedText(invalid.length)}.` : 'all of them are valid.'
    output.warn(`This is the first of ${grouped(items.length)} rows; ${others}`)
    if (problem) context.exitCode = exitCode('partial')
    return
  }

  const service = new URL(settings.baseUrl.value).origin
  const { results, resume } = options
  // Before the approval, so that nobody approves an import that cannot start.
  checkResults(
    { path: resolve(context.io.cwd, results), shown: results, resume },
    { import: kind.file, service, org_id: org },
  )
  await context.approveFirst({
    cli: [command, kind.create.cli],
    line: `svc ${command} ${options.file}: ${quantity(items.length, kind)}, on conflict ${options.mode}${problem ? `, ${grouped(invalid.length)} invalid rows left out` : ''}`,
    org,
    bound: async () => ({
      operation: command,
      body: {
        on_conflict: options.mode,
        ...(problem && { invalid_rows_left_out: invalid.length }),
        // The file includes the rows that an interrupted run has already imported.
        ...(options.resume && { resumes: true }),
      },
      counts: { [kind.many]: items.length },
      file: { name: source, sha256 },
    }),
  })
  const imported = await importRows(kind, checked, { org, service, options }, { context, output })
  const { counts, stopped } = imported
  printFailures(imported, options.results, output.warn)
  const done = counts.created + counts.updated + counts.skipped
  if (stopped || done + counts.failed < items.length)
    throw stoppedError(imported, items.length, await context.command!.again({ plus: ['--resume'] }))
  await output.report(`Imported ${grouped(done)} of ${quantity(items.length, kind)}`, {
    ...counts,
    ...(options.skipInvalid && { invalid: invalid.length }),
    results: options.results,
  })
  if (options.resume) output.note('The counts include earlier runs of this import.')
  if (counts.failed + invalid.length > 0) context.exitCode = exitCode(done > 0 ? 'partial' : 'failed')
}
