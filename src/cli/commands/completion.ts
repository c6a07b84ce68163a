import type { Command } from 'commander'
import { completionScript, shells } from '../completion/script.ts'
import type { Context } from '../context.ts'
import { usageError } from '../../core/errors.ts'
import { describeCommand } from '../command-node.ts'

const isShell = (word: string | undefined): word is keyof typeof shells =>
  word !== undefined && Object.hasOwn(shells, word)

/** `svc completion SHELL` prints a static script, made from the command tree. */
export const registerCompletion = (command: Command, context: Context): void => {
  command
    .usage('<shell>')
    .argument('[shell]')
    .addHelpText('after', '\nExample:\n  source <(svc completion bash)')
    .action(async (shell?: string) => {
      if (!isShell(shell))
        throw usageError(
          shell === undefined ? 'Missing <shell>' : `There is no completion for "${shell}"`,
          `svc completion ${Object.keys(shells).join('|')}`,
        )
      const { buildProgram } = await import('../program.ts')
      const { globals } = context
      const tree = describeCommand(await buildProgram(context))
      context.globals = globals
      context.io.stdout.write(completionScript(shell, tree))
    })
}
