import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { SvcError, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import { within } from '../../core/within.ts'
import { approveToolCall, blockedReason, nothingRan, type CallOptions } from '../approve/tool-call.ts'
import type { Context } from '../context/context.ts'
import { ignoreSurroundings } from '../context/own-settings.ts'
import type { Action } from '../program/define-command.ts'
import { readCall } from './call.ts'
import { hosts, type Host, type HostName } from './host.ts'
import { holds, readNames } from './tool-names.ts'
import { blockUntilReleased, endBlocked, release, verdictFor, type Verdict } from './verdict.ts'

export type RunOptions = { match?: string[]; timeout?: string } & CallOptions

/** The time for a decision if --timeout is absent, in seconds. */
export const defaultSeconds = 120
/** Seconds after which svc stops waiting although the service has not ended the request: `waitFor` uses 10 of them. */
const slack = 15
/** Seconds to withdraw the request, after which svc ends in any case. */
const toEnd = 5
/** How much longer than --timeout a host must wait for the hook, in seconds. Covers the start of svc, too. */
export const hostSlack = 30

/** A pipe would keep this process, with its deadline, for longer than the host waits. A file that is absent has an error of its own. */
const refusePipes = ({ globals: { keyFile, cacert }, io: { cwd } }: Context): void => {
  const other = [keyFile, cacert].find(
    (file) =>
      file !== undefined && statSync(resolve(cwd, file), { throwIfNoEntry: false })?.isFile() === false,
  )
  if (other !== undefined)
    throw usageError(`${safeLine(other)} is not a regular file`, 'Name the file itself')
}

const decide = async (
  host: Host,
  options: RunOptions,
  context: Context,
  requested: () => void,
): Promise<Verdict> => {
  const { io } = context
  ignoreSurroundings(context)
  refusePipes(context)
  const names = options.match ? readNames(options.match) : host.shell
  if (io.stdin.isTTY) throw usageError(`This command is called by ${host.title}, not by a person`)
  const call = readCall(host, await io.stdin.bytes())
  if (!holds(names, [call.tool, ...(host.aliases?.[call.tool] ?? [])])) return { kind: 'pass' }
  return { kind: 'approved', id: await approveToolCall(call, options, context, requested) }
}

const late = (what: string, seconds: number): SvcError =>
  new SvcError('expired', 'timeout', `${what} within ${seconds} seconds: ${nothingRan}`)

/** `svc hook run`: decides about one tool call. Everything but an approval that was used up blocks it. */
export const runHook: Action<RunOptions, [HostName]> = async ({ args: [name], options }, context) => {
  blockUntilReleased()
  const host = hosts[name]
  const typed = Number(options.timeout ?? defaultSeconds)
  const seconds = typed + slack
  const deadline = AbortSignal.timeout(seconds * 1000)
  const { stderr, signal } = context.io
  context.io = {
    ...context.io,
    signal: AbortSignal.any([signal, deadline]),
    // The host takes everything on standard error as the reason.
    ...(!context.globals.debug && { stderr: { ...stderr, write: () => undefined } }),
  }
  let isAsked = false
  const tooLate = (): SvcError =>
    isAsked ? late('No decision', typed) : late('The service did not answer', seconds)
  const decision = decide(host, options, context, () => (isAsked = true)).catch((error: unknown): Verdict => {
    return { kind: 'blocked', reason: blockedReason(deadline.aborted ? tooLate() : error) }
  })
  // Standard input may never end, and the withdrawal of the request may hang.
  const decided = await within<Verdict | undefined>(decision, {
    ms: (seconds + toEnd) * 1000,
    late: () => undefined,
  })
  const verdict = decided ?? { kind: 'blocked', reason: blockedReason(tooLate()) }
  const written = verdictFor(name, verdict)
  if (written.stderr !== '') stderr.write(written.stderr)
  // A verdict that the host cannot read is none: the process ends before it releases the call.
  context.endsWithReader = true
  context.io.stdout.write(written.stdout)
  // If the host has closed the output, the error arrives now.
  await setImmediate()
  context.exitCode = written.exit
  if (!decided) endBlocked()
  if (verdict.kind !== 'blocked') release()
}
