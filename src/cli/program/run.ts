import { CommanderError } from 'commander'
import type { Context } from '../context/context.ts'
import { buildProgram, type Parts } from './program.ts'

/** Runs one command and says how it ended. The only place that catches. */
export const runLine = async (
  argv: string[],
  context: Context & { close(): Promise<void> },
  parts: Parts,
): Promise<number> => {
  context.io.onUnwritable = async (code) => {
    const { showError, unwritable } = await import('../terminal/error.ts')
    const error = unwritable(context, code)
    return error ? showError(error, context) : 0
  }
  try {
    const program = await buildProgram(context, parts, argv)
    if (argv.length === 0) {
      program.outputHelp()
      return 0
    }
    await program.parseAsync(argv, { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { showError } = await import('../terminal/error.ts')
    const shown = error instanceof CommanderError ? await asUsage(error, argv, context, parts) : error
    const code = showError(shown, context)
    return code < 100 ? code + context.exitOffset : code
  } finally {
    await context.close()
  }
}

/** What the parser refused, compared with the whole command tree. */
const asUsage = async (refusal: CommanderError, argv: string[], context: Context, parts: Parts) => {
  const { globals } = context
  const [mistake, program] = await Promise.all([import('./usage-mistake.ts'), buildProgram(context, parts)])
  context.globals = globals
  return mistake.asUsage(refusal, argv, program)
}
