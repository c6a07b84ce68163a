import { Chalk } from 'chalk'
import { interrupted, SvcError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeJson, safeLine, safeText } from '../../core/safe-text.ts'
import type { Globals, Io, Run } from './io.ts'
import { withoutKeys } from './mask.ts'
import { wantsColour, wantsMachine } from './output.ts'
import { fitted } from './wrap.ts'

/** Converts anything thrown to the error that is shown. An unexpected one is `internal`. */
const asSvcError = (error: unknown, io: Io): SvcError => {
  if (error instanceof SvcError) return error
  if (io.signal.aborted || (error instanceof Error && error.name === 'AbortError')) return interrupted()
  if (!(error instanceof Error)) return internal(String(error))
  // A full disk or a missing folder: the message of the system is the clearest.
  if ('syscall' in error && 'code' in error)
    return new SvcError('failed', 'system', error.message, { cause: error })
  // The database has its native part in an optional package, which npm can leave out.
  if ('code' in error && error.code === 'MODULE_NOT_FOUND')
    return new SvcError(
      'failed',
      'not_installed',
      `A part of svc is not installed: ${error.message.split('\n')[0]}`,
      { hint: 'Install svc again, without --omit=optional', cause: error },
    )
  return internal(error.message, error)
}

const internal = (what: string, cause?: Error): SvcError =>
  new SvcError('failed', 'internal', `Something went wrong inside svc: ${what}`, {
    hint: 'Run it again with --debug and report the output',
    cause,
  })

/** Issues that the message does not contain yet: it has the first one, or text that is the same for all of them. */
const furtherIssues = ({ message, issues = [] }: SvcError) => {
  const others = issues.filter((issue) => !message.startsWith(`${issue.field} ${issue.message}`))
  const isAboutAll =
    others.length === issues.length &&
    issues.every((issue) => issue.message === issues[0]!.message && message.endsWith(issue.message))
  return isAboutAll ? [] : others
}

/** `users[0].email:`, but `org.yaml:2:1` alone, which is a position in a file. */
const headOf = (field: string): string => safeLine(/:\d+:\d+$/.test(field) ? field : `${field}:`)

const forPeople = (error: SvcError): string => {
  const { message, detail, hint, request_id } = error
  return [
    `svc: ${safeText(message)}`,
    ...furtherIssues(error).map(({ field, message: why }) => `  ${headOf(field)} ${safeLine(why)}`),
    ...(detail ? [safeText(detail)] : []),
    ...(hint ? [`hint: ${safeText(hint)}`] : []),
    ...(request_id ? [`request id: ${safeLine(request_id)}`] : []),
  ].join('\n')
}

const inColour = (text: string, look: { io: Io; globals: Globals }): string => {
  const chalk = new Chalk({ level: wantsColour(look.io.stderr, look) ? 1 : 0 })
  return text.replace(/^svc:/, chalk.red.bold('svc:')).replace(/^hint:/m, chalk.cyan('hint:'))
}

/** Nobody can tell where an error ends up, and a key may have been typed in a wrong place. */
const withoutKeysIn = (error: SvcError): SvcError =>
  error.with({
    message: withoutKeys(error.message),
    cause: error.cause ?? error,
    detail: error.detail && withoutKeys(error.detail),
    hint: error.hint && withoutKeys(error.hint),
    issues: error.issues?.map(({ field, message }) => ({
      field: withoutKeys(field),
      message: withoutKeys(message),
    })),
  })

/** Prints an error on stderr, as one line of JSON if a machine format is requested. Returns the exit code. */
export const showError = (error: unknown, { io, globals }: { io: Io; globals: Globals }): number => {
  const thrown = asSvcError(error, io)
  io.onAnswer?.(thrown)
  const known = withoutKeysIn(thrown)
  const { code, message, detail, hint, issues, request_id } = known
  // With --jq alone, a person may read the error on a terminal.
  const isForPerson = !wantsMachine(globals) || (globals.output === undefined && io.stderr.isTTY)
  const text = isForPerson
    ? inColour(fitted(forPeople(known), io.stderr), { io, globals })
    : safeJson({ code, message, detail, hint, issues, request_id })
  io.stderr.write(`${text}\n`)
  if (globals.debug) {
    const { cause = known } = known
    const stack = cause instanceof Error ? cause.stack : undefined
    if (stack) io.stderr.write(`${safeText(stack)}\n`)
  }
  return exitCode(known.exit)
}

const lost = (run: Run, why: string, hint: string): SvcError =>
  new SvcError(
    'notShown',
    'not_shown',
    `svc ${run.command?.words ?? ''} was carried out, but its answer could not be shown: ${why}`,
    { hint },
  )

/** The error if a change succeeded but its answer could not be shown as requested. It is on stdout as JSON instead. */
export const notShownAsRequested = (run: Run, error: unknown): SvcError =>
  lost(
    run,
    error instanceof Error ? error.message : String(error),
    'The whole answer is on standard output as JSON. Do not run the command again to see it',
  )

/** The error if standard output cannot be written. Undefined if its reader stopped early, like `head`, and nothing is lost. */
export const unwritable = (run: Run, code: string): SvcError | undefined => {
  const { once, changed, io } = run
  // svc cannot distinguish a missing reader from one that stopped on purpose.
  const isClosed = code === 'EPIPE' || code === 'EBADF'
  if (isClosed && !(changed && once)) return undefined
  const why = isClosed ? 'standard output is closed' : `standard output cannot be written (${code})`
  if (!changed) return new SvcError('failed', 'system', `The answer could not be shown: ${why}`)
  if (once === undefined) return lost(run, why, 'Do not run the command again to see it')
  if (io.stderr.isTTY) {
    io.stderr.write(once)
    return lost(run, why, 'It is shown above and will not be shown again')
  }
  return lost(
    run,
    why,
    run.lostHint ?? 'The secret in it is lost: delete, revoke or replace what was created',
  )
}

/** The names of secret fields whose values are not in the printed text. */
export const unprinted = (data: unknown, once: ReadonlySet<string>, text: string): string[] => {
  if (typeof data !== 'object' || data === null) return []
  const inside = Object.entries(data).flatMap(([name, value]) =>
    once.has(name) && typeof value === 'string' && value !== '' && !text.includes(value)
      ? [name]
      : unprinted(value, once, text),
  )
  return [...new Set(inside)]
}

/** Throws if an answer lacks the secret of what was created, which cannot be shown later. */
export const requireSecrets = (run: Run, data: unknown, once: ReadonlySet<string>): void => {
  if (unprinted(data, once, '').length > 0) return
  throw new SvcError(
    'notShown',
    'no_secret',
    `svc ${run.command?.words ?? ''}: the service reported success and returned no ${[...once].join(', ')}`,
    { hint: 'It may have been created: delete, revoke or replace it' },
  )
}
