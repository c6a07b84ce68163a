import { SvcError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { safeJson, safeLine, safeText } from '../../core/safe-text.ts'
import type { Globals } from './run.ts'
import type { Io } from './io.ts'
import { wantsMachine } from './output.ts'

/** Anything thrown, as the error that is shown. What we did not foresee is `internal`. */
const asSvcError = (error: unknown, io: Io): SvcError => {
  if (error instanceof SvcError) return error
  if (io.signal.aborted || (error instanceof Error && error.name === 'AbortError'))
    return new SvcError('interrupted', 'interrupted', 'Interrupted')
  if (!(error instanceof Error)) return internal(String(error))
  // A full disk, a missing folder: the system's own words say it best.
  if ('syscall' in error && 'code' in error)
    return new SvcError('failed', 'system', error.message, { cause: error })
  return internal(error.message, error)
}

const internal = (what: string, cause?: Error): SvcError =>
  new SvcError('failed', 'internal', `Something went wrong inside svc: ${what}`, {
    hint: 'Run it again with --debug and report the output',
    cause,
  })

/** Issues that the message does not tell already: it has the first one, or a question about all of them. */
const furtherIssues = ({ message, issues = [] }: SvcError) => {
  const others = issues.filter((issue) => !message.startsWith(`${issue.field} ${issue.message}`))
  const isAboutAll =
    others.length === issues.length &&
    issues.every((issue) => issue.message === issues[0]!.message && message.endsWith(issue.message))
  return isAboutAll ? [] : others
}

const forPeople = (error: SvcError): string => {
  const { message, detail, hint, request_id } = error
  return [
    `svc: ${safeText(message)}`,
    ...furtherIssues(error).map((issue) => `  ${safeLine(issue.field)}: ${safeLine(issue.message)}`),
    ...(detail ? [safeText(detail)] : []),
    ...(hint ? [`hint: ${safeText(hint)}`] : []),
    ...(request_id ? [`request id: ${safeLine(request_id)}`] : []),
  ].join('\n')
}

const forMachines = ({ code, message, detail, hint, issues, request_id }: SvcError): string =>
  safeJson({ code, message, detail, hint, issues, request_id })

/** Shows an error on stderr: as JSON in one line when a machine format is asked. Answers the exit code. */
export const showError = (error: unknown, { io, globals }: { io: Io; globals: Globals }): number => {
  const known = asSvcError(error, io)
  io.onAnswer?.(known)
  io.stderr.write(`${wantsMachine(globals) ? forMachines(known) : forPeople(known)}\n`)
  if (globals.debug) {
    const { cause = known } = known
    const stack = cause instanceof Error ? cause.stack : undefined
    if (stack) io.stderr.write(`${safeText(stack)}\n`)
  }
  return exitCode(known.exit)
}
