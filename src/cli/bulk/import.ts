import { setMaxListeners } from 'node:events'
import type { Operation } from '../../contract/operation.ts'
import { user } from '../../contract/user.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { nationalNumber } from '../../factors/phone.ts'
import type { Context } from '../context/context.ts'
import { requireOrg, resolveOrg } from '../context/organization.ts'
import type { Action } from '../program/define-command.ts'
import { checkRows, mostErrors, type Item } from './check-rows.ts'
import { grouped, quantity, startProgress } from './progress.ts'
import { readRows, sourceName, type Fields } from './read-file.ts'
import { sendRows, type Outcome } from './send-rows.ts'

export type TypedImport = { org?: string; onConflict?: string; dryRun?: boolean }

const conflictModes = ['fail', 'skip'] as const
type ConflictMode = (typeof conflictModes)[number]

const concurrency = 16
/** The time for requests in progress to finish after Ctrl-C. */
const graceMs = 10_000

type Failure = { item: Item; error: SvcError }

type Imported = {
  counts: Record<Outcome | 'failed', number>
  failures: Failure[]
  stopped: SvcError | undefined
}

const readMode = (typed = 'fail'): ConflictMode => {
  const mode = conflictModes.find((one) => one === typed)
  if (mode) return mode
  throw usageError(`--on-conflict must be ${conflictModes.join(' or ')}, not "${typed}"`)
}

const otherConflicts = new Set(['idempotency_key_reused', 'quota_exceeded'])
/** The user already exists. Third-party services have other codes for it, or none. */
const isConflict = (error: unknown): boolean =>
  error instanceof SvcError && error.http_status === 409 && !otherConflicts.has(error.code)

/** The request body, with the phone number in two parts as in the specification. */
const bodyOf = (input: Fields): Fields => {
  const phone = { mobile: String(input['mobile']), country_code: String(input['country_code']) }
  return { ...input, mobile: nationalNumber(phone) }
}

// The rows of a file are untyped; the service checks them.
const createUser: Operation = user.createUser

const sendAll = async (
  items: readonly Item[],
  { org, mode }: { org: number; mode: ConflictMode },
  context: Context,
): Promise<Imported> => {
  const { io } = context
  const rows = items.map(({ input }) => ({
    operation: 'createUser' as const,
    input: { orgId: org, ...bodyOf(input) },
  }))
  // One approval for all rows, if a rule of the organization holds them.
  const { approvals, existing } = await context.approveTogether(rows, {
    org,
    skipExisting: mode === 'skip',
    nameOf: (place) => `row ${items[place]!.row}`,
  })
  const places = new Map(items.map((item, i) => [item, i]))
  const [client, output] = await Promise.all([context.client(), context.output()])
  const counts = { created: 0, skipped: 0, failed: 0 }
  const failures: Failure[] = []
  let done = 0
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
      items,
      concurrency,
      signal: io.signal,
      send: async (item) => {
        const place = places.get(item)!
        if (existing.has(place)) return 'skipped'
        const options = { signal: hard.signal, approval: approvals[place] }
        try {
          await client.call(createUser, rows[place]!.input, options)
          return 'created'
        } catch (error) {
          if (mode === 'skip' && isConflict(error)) return 'skipped'
          throw error
        }
      },
      paused: (ms) => output.warn(`Rate limit: waiting ${Math.ceil(ms / 1000)} s`),
      done: (item, outcome) => {
        done += 1
        if (typeof outcome === 'string') counts[outcome] += 1
        else {
          counts.failed += 1
          failures.push({ item, error: outcome })
        }
      },
    })
    return { counts, failures: failures.toSorted((a, b) => a.item.row - b.item.row), stopped }
  } finally {
    progress.end()
    io.signal.removeEventListener('abort', interrupt)
  }
}

/** The service's error for a row. */
const failureText = ({ message, issues = [] }: SvcError): string => {
  const more = issues.map(({ field, message: why }) => `${field} ${why}`)
  return more.length > 0 ? `${message} (${more.join('; ')})` : message
}

const printFailures = (failures: readonly Failure[], warn: (text: string) => void): void => {
  for (const { item, error } of failures.slice(0, mostErrors)) warn(`row ${item.row}: ${failureText(error)}`)
  if (failures.length > mostErrors)
    warn(`and ${grouped(failures.length - mostErrors)} more; -o json prints all of them`)
  if (failures.some(({ error }) => isConflict(error))) warn('hint: --on-conflict skip keeps existing users')
}

/** The error for an import that stopped early, with the command that continues it. */
const stoppedError = ({ counts, stopped }: Imported, total: number, again: string): SvcError => {
  const done = counts.created + counts.skipped
  const progress = `${grouped(done)} of ${grouped(total)} rows are done`
  const hint = `${again} continues`
  if (!stopped) return new SvcError('interrupted', 'interrupted', `Interrupted; ${progress}`, { hint })
  const { exit, code, message, request_id, hint: own } = stopped
  return new SvcError(exit, code, `Stopped; ${progress}. ${message}`, { detail: own, hint, request_id })
}

/** `svc user import`: reads and checks all rows, then sends them. */
export const runImport: Action<TypedImport> = async ({ args: [file], options: typed }, context) => {
  const again = context.command!.again
  if (file === undefined || file === '')
    throw usageError('Missing <file>; - for standard input', await again({ args: ['users.csv'] }))
  const mode = readMode(typed.onConflict)
  if (file === '-' && context.globals.keyFile === '-')
    throw usageError('The rows and --key-file cannot both be standard input')
  const [settings, output] = [await context.settings(), await context.output()]
  const wanted = await requireOrg(typed.org, context)
  const source = sourceName(file)
  const { rows, sha256 } = await readRows(file, context.io)
  if (rows.length >= 20_000) output.note(`Checking ${grouped(rows.length)} rows`)
  const items = await checkRows(rows, source, context.io.signal)
  const { id: org } = await resolveOrg(wanted, context)
  if (typed.dryRun) {
    const { showDryRun } = await import('../operation/dry-run.ts')
    const first = { orgId: org, ...bodyOf(items[0]!.input) }
    await showDryRun(user.createUser, first, {}, context, { rows: items.length })
    return output.warn(`This is the first of ${grouped(items.length)} rows; all of them are valid.`)
  }

  const count = quantity(items.length)
  await context.approveFirst({
    cli: ['user import', user.createUser.cli],
    line: `svc user import ${file}: ${count}, on conflict ${mode}`,
    org,
    bound: async () => ({
      operation: 'user import',
      body: { on_conflict: mode },
      counts: { users: items.length },
      file: { name: source, sha256 },
    }),
  })
  output.note(`${count} to import into organization ${org} at ${new URL(settings.baseUrl.value).origin}`)
  const imported = await sendAll(items, { org, mode }, context)
  const { counts, failures, stopped } = imported
  printFailures(failures, output.warn)
  const done = items.length - counts.failed
  if (stopped || counts.created + counts.skipped < done) {
    // Whoever was created before is not created again.
    const resumed = mode === 'fail' ? { without: ['--on-conflict'], plus: ['--on-conflict', 'skip'] } : {}
    throw stoppedError(imported, items.length, await again(resumed))
  }
  const rowsFailed = failures.map(({ item: { row, mobile }, error }) => {
    const { code, message, issues, request_id } = error
    return { row, mobile, error: { code, message, issues, request_id } }
  })
  await output.report(`Imported ${grouped(done)} of ${count}`, {
    ...counts,
    ...(output.machine && { failures: rowsFailed }),
  })
  if (counts.failed > 0) context.exitCode = exitCode(done > 0 ? 'partial' : 'failed')
}
