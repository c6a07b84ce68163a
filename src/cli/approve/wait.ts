import type { Command } from 'commander'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { noteScope } from '../program/command-node.ts'
import { sameService } from '../program/command-line.ts'
import { exitOfAll, interruptedWait, showAwaited, unboundNote } from './messages.ts'

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
    const [{ openBackend }, { checkEvents, createProgress }, { waitFor }] = await Promise.all([
      import('./open-backend.ts'),
      import('./progress.ts'),
      import('../../asking/wait.ts'),
    ])
    checkEvents(context.globals)
    const backend = await openBackend(context, {
      through: options.mcp ? 'tools' : undefined,
      mostSeconds: most,
    })
    const output = await context.output()
    const progress = createProgress(context, backend)
    let found = false
    try {
      const first = await Promise.all(ids.map((id) => backend.status(id)))
      found = true
      const records = await Promise.all(
        first.map(async (record) => {
          if (record.status === 'pending') progress.waiting(record)
          const decided = await waitFor(backend, record, { progress, signal: io.signal, most })
          progress.decided(decided)
          for (const text of unboundNote(decided, backend)) output.warn(text)
          return decided
        }),
      )
      await showAwaited(context, records.length === 1 ? records[0] : records)
      context.exitCode = exitOfAll(records)
    } catch (error) {
      if (found && error instanceof SvcError && error.exit === 'interrupted')
        throw interruptedWait(ids, backend)
      throw error
    } finally {
      progress.end()
      await backend.close()
    }
  })
}
