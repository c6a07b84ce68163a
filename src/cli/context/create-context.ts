import type { Client } from '../../client/client.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { ApprovalGuard, Context } from './context.ts'
import type { Io } from '../terminal/io.ts'

const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

/** The context of one run of the command line; `close` lets go of its connections. */
export const createContext = (
  io: Io,
  createGuard: (context: Context) => ApprovalGuard,
): Context & { close(): Promise<void> } => {
  let client: Promise<Client> | undefined
  const connect = async (): Promise<Client> => {
    const { openClient } = await import('./open-client.ts')
    return guard.guard(
      openClient(context.io, context.globals, await context.settings(), {
        approval: () => guard.approval(),
        forAgent: context.command?.words === 'mcp',
      }),
    )
  }
  const context: Context & { close(): Promise<void> } = {
    io,
    globals: {},
    exitCode: 0,
    exitOffset: 0,
    settings: once(async () => {
      const { createSettings } = await import('./resolve.ts')
      const settings = createSettings({ io, globals: context.globals })
      const { value, source, from = source } = settings.profile
      if (context.globals.debug) io.stderr.write(`  profile ${value} (${safeLine(from)})\n`)
      return settings
    }),
    client: () => (client ??= connect()),
    approveFirst: (change) => guard.requireApproved(change),
    output: once(async () => {
      const { createOutput } = await import('../terminal/create-output.ts')
      const output = createOutput(context)
      if (context.globals.jq === undefined) return output
      await (await import('../terminal/jq.ts')).checkFilter(context.globals.jq)
      return output
    }),
    prompt: once(async () => {
      if (!io.stdin.isTTY || !io.stderr.isTTY || context.globals.input === false) return undefined
      const { createPrompt } = await import('../terminal/prompt-inquirer.ts')
      return createPrompt(io)
    }),
    close: async () => {
      const open = await client?.catch(() => undefined)
      await open?.close()
    },
  }
  const guard = createGuard(context)
  return context
}
