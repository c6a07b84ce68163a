import { resolve } from 'node:path'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import type { Context } from '../context.ts'
import { resolveOrg } from '../organization.ts'
import { carryOut, type Carried } from './carry-out.ts'
import { checkRows } from './check-rows.ts'
import { readImportOptions, type TypedImport } from './import-options.ts'
import type { Kind } from './kind.ts'
import { grouped } from './progress.ts'
import { isConflict } from './conflict.ts'
import { readRows, sourceName } from './read-file.ts'
import { checkResults } from './results.ts'

/** Tells the first rows that failed; the result file has them all. */
const tellFailures = ({ failures, counts }: Carried, results: string, warn: (text: string) => void): void => {
  for (const { row, error } of failures.toSorted((a, b) => a.row - b.row)) {
    const issues = (error.issues ?? []).map(({ field, message }) => `${field} ${message}`)
    warn(`row ${row}: ${error.message}${issues.length > 0 ? ` (${issues.join('; ')})` : ''}`)
  }
  const more = counts.failed - failures.length
  if (more > 0) warn(`and ${grouped(more)} more, all of them in ${results}`)
  if (failures.some(({ error }) => isConflict(error)))
    warn('hint: --on-conflict skip leaves alone what is there already, --on-conflict update changes it')
}

/** Why not every row was tried, with the command that goes on. */
const early = ({ counts, stopped }: Carried, total: number, resume: string): SvcError => {
  const done = counts.created + counts.updated + counts.skipped
  const so = `${grouped(done)} of ${grouped(total)} rows are done`
  const hint = `${resume} goes on`
  if (!stopped) return new SvcError('interrupted', 'interrupted', `Interrupted; ${so}`, { hint })
  const { exit, code, message, request_id, hint: own } = stopped
  return new SvcError(exit, code, `Stopped; ${so}. ${message}`, { detail: own, hint, request_id })
}

/** `svc user import`: reads and checks every row before the first request, sends them, and keeps how each ended. */
export const runImport = async (
  kind: Kind,
  file: string | undefined,
  typed: TypedImport,
  context: Context,
): Promise<void> => {
  const words = `${kind.group} import`
  const options = readImportOptions(words, file, typed, kind)
  if (options.file === '-' && context.globals.keyFile === '-')
    throw usageError('The rows and --key-file cannot both be standard input')
  const [settings, output] = [await context.settings(), await context.output()]
  const wanted = typed.org ?? settings.org?.value
  if (!wanted) throw usageError('Missing --org', `svc ${words} ${options.file} --org acme`)

  const source = sourceName(options.file)
  const rows = await readRows(options.file, options.format, kind, context.io)
  if (rows.length >= 20_000) output.note(`Checking ${grouped(rows.length)} rows`)
  const items = await checkRows(rows, kind, source, context.io.signal)
  const { id: org } = await resolveOrg(wanted, context)
  if (options.dryRun) {
    const { showDryRun } = await import('../dry-run.ts')
    const { input } = items[0]!
    const first = { [kind.orgField]: org, ...(kind.bodyOf?.(input) ?? input) }
    await showDryRun(kind.create, first, {}, context, { rows: items.length })
    output.warn(`This is the first of ${grouped(items.length)} rows; all of them are in order.`)
    return
  }

  const service = new URL(settings.baseUrl.value).origin
  const { results, resume } = options
  // A person is not asked about what cannot begin.
  checkResults(
    { path: resolve(context.io.cwd, results), shown: results, resume },
    { import: kind.file, service, org_id: org },
  )
  await context.approveFirst({
    cli: [words, kind.create.cli],
    line: `svc ${words} ${options.file}: ${grouped(items.length)} ${kind.many}, on conflict ${options.mode}`,
    org,
  })
  const carried = await carryOut(kind, items, { org, service, options }, { context, output })
  const { counts, stopped } = carried
  tellFailures(carried, options.results, output.warn)
  const done = counts.created + counts.updated + counts.skipped
  if (stopped || done + counts.failed < items.length)
    throw early(carried, items.length, await context.command!.again({ plus: ['--resume'] }))
  await output.show({
    status: 'success',
    message: `Imported ${grouped(done)} of ${grouped(items.length)} ${kind.many}`,
    data: { ...counts, results: options.results },
  })
  if (counts.failed > 0) context.exitCode = exitCode(done > 0 ? 'partial' : 'failed')
}
