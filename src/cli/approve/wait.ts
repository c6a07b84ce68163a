import { SvcError, usageError } from '../../core/errors.ts'
import { exitCode } from '../../core/exit-codes.ts'
import { exitOfState } from '../../asking/outcome.ts'
import { typedSeconds } from '../operation/typed-time.ts'
import { defineCommand } from '../program/define-command.ts'
import { sameService } from '../program/command-line.ts'
import { interruptedWait, showDecision, unboundNote } from './messages.ts'

const secondsOf = (typed: string | undefined): number | undefined => {
  if (typed === undefined) return undefined
  const text = typedSeconds(typed)
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw usageError(
      `--timeout must be seconds, 1 or more, such as 300 or 5m, not "${typed}"`,
      '--timeout 60',
    )
  return Number(text)
}

/** `svc approve wait ID`: continues to wait for a request. */
export const registerWait = defineCommand<{ timeout?: string; mcp?: boolean }>({
  name: 'wait',
  summary: 'Wait for the decision of a request: exit 0 approved, 6 denied, 7 expired, 8 still pending',
  usage: '<request-id> [flags]',
  args: ['[request-id]'],
  options: {
    '--timeout <n>': 'Time to wait: 90, 5m, 1h; default: until the request expires',
    '--mcp': 'Use the tool server at SVC_MCP_URL',
  },
  examples: ['svc approve wait apr_3mYk8wQZ'],
  scope: 'ask or read',
  hasId: true,
  action: async ({ args: [id], options }, context) => {
    if (id === undefined)
      throw usageError(
        'Missing <request-id>',
        `svc approve list --status pending${sameService(context.globals)}`,
      )
    const most = secondsOf(options.timeout)
    const { io } = context
    const { openBackend } = await import('./open-backend.ts')
    const { createProgress } = await import('./progress.ts')
    const { requireUsable, waitFor } = await import('../../asking/wait.ts')
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
      requireUsable(decided, backend)
      context.exitCode = exitCode(exitOfState(decided.status))
    } catch (error) {
      if (found && error instanceof SvcError && error.exit === 'interrupted')
        throw interruptedWait(id, backend)
      throw error
    } finally {
      progress.end()
      await backend.close()
    }
  },
})
