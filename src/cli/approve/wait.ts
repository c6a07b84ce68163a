import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { exitOfState } from '../../asking/outcome.ts'
import type { Context } from '../context/context.ts'
import { noteScope } from '../program/command-node.ts'
import { sameService } from '../program/command-line.ts'
import { interruptedWait, showDecision, unboundNote } from './messages.ts'

const secondsOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw usageError(`--timeout must be a whole number of seconds, 1 or more, not "${text}"`, '--timeout 60')
  return Number(text)
}

/** `svc approve wait ID`: continues to wait for a request. */
export const registerWait = (group: Command, context: Context): void => {
  const command = group
    .command('wait')
    .description('Wait for the decision of a request: exit 0 approved, 6 denied, 7 expired, 8 still pending')
    .usage('<request-id> [flags]')
    .argument('[request-id]')
    .option('--timeout <n>', 'Seconds to wait; default: until the request expires')
    .option('--mcp', 'Use the tool server at SVC_MCP_URL')
    .addHelpText('after', '\nExample:\n  svc approve wait apr_3mYk8wQZ')

  noteScope(command, 'ask or read')
  command.action(async () => {
    const options = command.opts<{ timeout?: string; mcp?: boolean }>()
    const [id] = command.args
    if (id === undefined)
      throw usageError(
        'Missing <request-id>',
        `svc approve list --status pending${sameService(context.globals)}`,
      )
    const most = secondsOf(options.timeout)
    const { io } = context
    const { openBackend } = await import('./open-backend.ts')
    const { createProgress } = await import('./progress.ts')
    const { waitFor } = await import('../../asking/wait.ts')
    const backend = await openBackend(context, {
      through: options.mcp ? 'tools' : undefined,
      mostSeconds: most,
    })
    const output = await context.output()
    const progress = createProgress(context, backend)
    let found = false
    try {
      const first = await backend.status(id)
      found = true
      if (first.status === 'pending') progress.waiting(first)
      const decided = await waitFor(backend, first, { progress, signal: io.signal, most })
      progress.decided(decided)
      for (const text of unboundNote(decided, backend)) output.warn(text)
      await showDecision(context, decided)
      context.exitCode = exitCode(exitOfState(decided.status))
    } catch (error) {
      if (found && error instanceof SvcError && error.exit === 'interrupted')
        throw interruptedWait(id, backend)
      throw error
    } finally {
      progress.end()
      await backend.close()
    }
  })
}
