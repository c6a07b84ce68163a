import { setImmediate } from 'node:timers/promises'
import { SvcError, usageError } from '../../core/errors.ts'
import { gatherAsk, hookOperation } from '../approve/ask.ts'
import type { Progress } from '../approve/progress.ts'
import type { Context } from '../context/context.ts'
import type { Io } from '../terminal/io.ts'
import { inTypedNames } from '../operation/typed-names.ts'
import { blockUntilReleased, endBlocked, release } from './blocking-exit.ts'
import { readCall, subjectOf } from './call.ts'
import { hosts, type Host, type HostName } from './host.ts'
import { holds, readNames } from './tool-names.ts'
import { reasonOf, verdictFor, type Verdict } from './verdict.ts'

export type RunOptions = { match?: string[]; timeout?: string; org?: string } & Record<string, unknown>

/** The time for a decision if --timeout is absent, in seconds. */
const defaultSeconds = 120
/** Seconds after which svc stops waiting although the service has not ended the request: `waitFor` uses 10 of them. */
const slack = 15
/** Seconds to withdraw the request, after which svc ends in any case. */
const toEnd = 5
/** How much longer than --timeout a host must wait for the hook, in seconds. Covers the start of svc, too. */
export const hostSlack = 30

/** What a hook prints goes to the agent as the reason, so it prints nothing while it waits. */
const silent: Progress = {
  requested: () => undefined,
  waiting: () => undefined,
  lost: () => undefined,
  reconnected: () => undefined,
  decided: () => undefined,
  end: () => undefined,
}

const nothing = 'the call did not run'

const requireSeparated = async (context: Context): Promise<void> => {
  const { checkSeparated } = await import('../approve/separation.ts')
  const warning = await checkSeparated(context)
  if (warning)
    throw new SvcError('usage', 'not_separated', 'The requesting key can influence who approves', {
      detail: 'A hook requires a key that can only request approvals.',
      hint: warning[1]?.replace(/^hint: /, ''),
    })
}

/** Asks a person about a call. Returns the id of the consumed approval; throws in every other case. */
const approvalOf = async (
  { title, call }: { title: string; call: Parameters<typeof subjectOf>[1] },
  options: RunOptions,
  context: Context,
): Promise<string> => {
  const subject = await subjectOf(title, call)
  const { ask } = await gatherAsk(hookOperation, { args: [], options }, context, subject)
  const [{ openBackend }, { consumedApproval }] = await Promise.all([
    import('../approve/open-backend.ts'),
    import('../approve/consumed-approval.ts'),
  ])
  const backend = await openBackend(context, { requester: ask.requester, bound: true })
  try {
    await requireSeparated(context)
    const asking = { backend, progress: silent, nothing, allowUnseparated: false, org: options.org }
    const { id } = await consumedApproval(ask, asking, context)
    return id
  } finally {
    await backend.close()
  }
}

const decide = async (host: Host, options: RunOptions, context: Context): Promise<Verdict> => {
  const { io } = context
  const names = options.match ? readNames(options.match) : host.shell
  if (io.stdin.isTTY) throw usageError(`This command is called by ${host.title}, not by a person`)
  const call = readCall(host, await io.stdin.text())
  if (!holds(names, [call.tool, ...(host.aliases?.[call.tool] ?? [])])) return { kind: 'pass' }
  const id = await approvalOf({ title: host.title, call }, options, context)
  if (io.signal.aborted) throw new SvcError('interrupted', 'interrupted', `Interrupted; ${nothing}`)
  return { kind: 'approved', id }
}

const late = (seconds: number): SvcError =>
  new SvcError('expired', 'timeout', `No decision within ${seconds} seconds: ${nothing}`)

const write = async (
  host: HostName,
  verdict: Verdict,
  io: Pick<Io, 'stdout' | 'stderr'>,
): Promise<number> => {
  const { stdout, stderr, exit } = verdictFor(host, verdict)
  if (stderr !== '') io.stderr.write(stderr)
  io.stdout.write(stdout)
  // If the host has closed the output, the error arrives now.
  await setImmediate()
  return exit
}

/** `svc hook run`: decides about one tool call. Everything but an approval that was used up blocks it. */
export const runHook = async (name: HostName, options: RunOptions, context: Context): Promise<void> => {
  blockUntilReleased()
  const host = hosts[name]
  const seconds = Number(options.timeout ?? defaultSeconds) + slack
  const deadline = AbortSignal.timeout(seconds * 1000)
  const { stderr, signal } = context.io
  context.io = {
    ...context.io,
    signal: AbortSignal.any([signal, deadline]),
    // The host takes everything on standard error as the reason.
    ...(!context.globals.debug && { stderr: { ...stderr, write: () => undefined } }),
  }
  const decision = decide(host, options, context).catch((error: unknown): Verdict => {
    const shown = deadline.aborted ? late(seconds) : inTypedNames(hookOperation, error)
    return { kind: 'blocked', reason: reasonOf(shown) }
  })
  // Standard input may never end, and the withdrawal of the request may hang.
  let over: NodeJS.Timeout | undefined
  const hung = new Promise<undefined>((resolve) => {
    over = setTimeout(() => resolve(undefined), (seconds + toEnd) * 1000)
  })
  const decided = await Promise.race([decision, hung])
  clearTimeout(over)
  const verdict = decided ?? { kind: 'blocked', reason: reasonOf(late(seconds)) }
  context.exitCode = await write(name, verdict, { stdout: context.io.stdout, stderr })
  if (!decided) endBlocked()
  if (verdict.kind !== 'blocked') release()
}
