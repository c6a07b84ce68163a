import { CommanderError } from 'commander'
import { usageError } from '../core/errors.ts'
import { createContext } from './create-context.ts'
import type { Io } from './io.ts'
import { buildProgram } from './program.ts'

/** Runs one command and says how it ended. The only place that catches. */
export const run = async (argv: string[], io: Io): Promise<number> => {
  const context = createContext(io)
  try {
    const program = await buildProgram(context, argv)
    if (argv.length === 0) {
      program.outputHelp()
      return 0
    }
    await program.parseAsync(argv, { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    const { showError } = await import('./output/error.ts')
    const code = showError(error instanceof CommanderError ? asUsage(error, argv) : error, context)
    return code < 100 ? code + context.exitOffset : code
  } finally {
    await context.close()
  }
}

const asUsage = (error: CommanderError, argv: string[]) => {
  const words = argv.filter((word) => /^[a-z][a-z-]*$/.test(word)).slice(0, 2)
  if (error.code === 'commander.unknownCommand') words.pop()
  const help = ['svc', ...words, '--help'].join(' ')
  if (error.code === 'commander.help') return usageError(`"${words.join(' ')}" needs a further word`, help)
  return usageError(error.message.replace(/^error: /, '').replace('\n', ' '), help)
}
