import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import { sleepFor } from '../../core/sleep.ts'
import { mayComeBack } from '../../client/retry.ts'
import type { ApprovalRecord } from '../../contract/approval.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Context } from '../context/context.ts'
import { noteScope } from '../program/command-node.ts'
import { sameService } from '../program/command-line.ts'
import type { Globals } from '../terminal/io.ts'
import { exitOfAll, interruptedWait, showAwaited, unboundNote } from './messages.ts'
import type { Progress } from './progress.ts'
import type { Backend } from './backend.ts'

/** Shorter than the timeout of a transport, so that a silent service is noticed. */
const longestPoll = 25
/** Seconds after the deadline in which the service may still report the decision. */
const grace = 10

type Waiting = {
  progress: Progress
  signal: AbortSignal
  /** The flags as typed, for the command in a hint. */
  globals?: Globals
  /** Seconds after which to return the request as it is then. */
  most?: number | undefined
  sleep?(ms: number, signal?: AbortSignal): Promise<void>
}

const unknownDecision = (
  { request_id }: ApprovalRecord,
  { tools }: Pick<Backend, 'tools'>,
  cause: SvcError,
  globals: Globals,
): SvcError =>
  new SvcError('unreachable', cause.code, `${cause.message}, and the time for the decision has passed`, {
    detail: 'The decision is unknown. This is not an approval.',
    hint: `svc approve status ${shellQuote(request_id)}${tools ? ' --mcp' : ''}${sameService(globals)}`,
    cause,
  })

/** The error if the key of the wait was revoked or has expired meanwhile. */
const keyRefused = (error: SvcError, { request_id }: ApprovalRecord): SvcError =>
  error.with({
    detail:
      `The decision on ${request_id} is unknown. This is not an approval. ` +
      'When a key is revoked or expires, its pending requests end.',
  })

/**
 * Waits for a decision until the deadline of the request, also through a restart of the service. Returns the request, which
 * can still be pending.
 */
export const waitFor = async (
  backend: Backend,
  first: ApprovalRecord,
  { progress, signal, globals = {}, most = Infinity, sleep = sleepFor }: Waiting,
): Promise<ApprovalRecord> => {
  const end = backend.now() + most * 1000
  let record = first
  let lost: SvcError | undefined
  let looked = false
  while (record.status === 'pending') {
    const left = Math.min(backend.secondsLeft(record) + grace, (end - backend.now()) / 1000)
    // Poll at least once: either clock may be wrong.
    if (left <= 0 && looked) {
      if (lost && backend.now() < end) throw unknownDecision(record, backend, lost, globals)
      return record
    }
    const started = backend.now()
    looked = true
    try {
      const seconds = lost ? 1 : Math.max(1, Math.min(Math.ceil(left), longestPoll))
      record = await backend.poll(record.request_id, seconds, signal)
      if (lost) progress.reconnected(record)
      else if (record.status === 'pending') progress.waiting(record)
      const early = record.status === 'pending' && !lost && backend.now() - started < 500
      lost = undefined
      // Do not poll a service in a tight loop if it does not wait or is about to stop.
      if (early) await sleep(1000, signal)
    } catch (error) {
      if (error instanceof SvcError && error.code === 'unauthenticated') throw keyRefused(error, record)
      if (!mayComeBack(error)) throw error
      if (!lost) progress.lost(record, error)
      lost = error
      await sleep(1000, signal)
    }
  }
  return record
}

const secondsOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw usageError(`--timeout must be a whole number of seconds, 1 or more, not "${text}"`, '--timeout 60')
  return Number(text)
}

/** `svc approve wait ID...`: continues to wait for one or more requests. */
export const registerWait = (group: Command, context: Context): void => {
  const command = group
    .command('wait')
    .description(
      'Wait for the decision of one or more requests; exits with the worst: 6 denied, 7 expired, 8 pending',
    )
    .usage('<request-id>... [flags]')
    .argument('[request-id...]')
    .option('--timeout <n>', 'Seconds to wait; default: until the last request expires')
    .option('--mcp', 'Use the tool server at SVC_MCP_URL')
    .addHelpText('after', '\nExample:\n  svc approve wait apr_3mYk8wQZ')

  noteScope(command, 'ask or read')
  command.action(async () => {
    const options = command.opts<{ timeout?: string; mcp?: boolean }>()
    const ids = [...new Set(command.args)]
    if (ids.length === 0)
      throw usageError(
        'Missing <request-id>',
        `svc approve list --status pending${sameService(context.globals)}`,
      )
    const most = secondsOf(options.timeout)
    const { io } = context
    const [{ openBackend }, { checkEvents, createProgress }] = await Promise.all([
      import('./open-backend.ts'),
      import('./progress.ts'),
    ])
    checkEvents(context.globals)
    const backend = await openBackend(context, {
      through: options.mcp ? 'tools' : undefined,
      mostSeconds: most,
    })
    const output = await context.output()
    const progress = createProgress(context, backend.secondsLeft)
    let found = false
    try {
      const first = await Promise.all(ids.map((id) => backend.gateway.status(id)))
      found = true
      const records = await Promise.all(
        first.map(async (record) => {
          if (record.status === 'pending') {
            io.onAnswer?.(record)
            progress.waiting(record)
          }
          const decided = await waitFor(backend, record, {
            progress,
            signal: io.signal,
            globals: context.globals,
            most,
          })
          progress.decided(decided)
          for (const text of unboundNote(decided, backend.gateway)) output.warn(text)
          return decided
        }),
      )
      await showAwaited(context, records.length === 1 ? records[0] : records)
      context.exitCode = exitOfAll(records)
    } catch (error) {
      if (found && error instanceof SvcError && error.exit === 'interrupted')
        throw interruptedWait(ids, backend.tools, context)
      throw error
    } finally {
      progress.end()
      await backend.close()
    }
  })
}
