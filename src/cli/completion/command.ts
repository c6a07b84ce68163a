import { completionScript, shells } from './script.ts'
import { kinds, type ValueKind } from './kinds.ts'
import type { Context } from '../context/context.ts'
import { usageError } from '../../core/errors.ts'
import { describeCommand } from '../program/command-node.ts'
import type { Register } from '../program/program.ts'

const isShell = (word: string | undefined): word is keyof typeof shells =>
  word !== undefined && Object.hasOwn(shells, word)

const isKind = (word: string | undefined): word is ValueKind => (kinds as readonly unknown[]).includes(word)

/** What the scripts ask while somebody types: a value and what it is, a line each. Silent where nobody can tell. */
const offer = async ([kind, ...words]: string[], { io }: Context): Promise<void> => {
  if (!isKind(kind)) return
  const { candidates } = await import('./candidates.ts')
  const found = await candidates(kind, words, io).catch(() => [])
  for (const { value, about } of found) io.stdout.write(`${value}\t${about}\n`)
}

/** `svc completion SHELL` prints the script, made from the command tree; the script asks `svc completion values`. */
export const registerCompletion: Register = (command, context, program) => {
  command
    .usage('<shell>')
    .argument('[shell]')
    .argument('[words...]')
    .addHelpText('after', '\nExample:\n  source <(svc completion bash)')
    .action(async (shell: string | undefined, words: string[]) => {
      if (shell === 'values') return offer(words, context)
      if (!isShell(shell))
        throw usageError(
          shell === undefined ? 'Missing <shell>' : `"${shell}" is not a supported shell`,
          `svc completion ${Object.keys(shells).join('|')}`,
        )
      context.io.stdout.write(completionScript(shell, describeCommand(await program.tree())))
    })
}
