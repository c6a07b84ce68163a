import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { describeCommand } from '../program/command-node.ts'
import { defineCommand, type Program } from '../program/define-command.ts'
import { prebuiltTree } from '../program/help-text.ts'
import { scripts } from './scripts.ts'

type Typed = { words: string[]; current: string }

/** Prints a value and its description per line, then `:files`. Prints nothing if the service does not answer. */
const offer = async (typed: Typed, { io }: Context, program: Program): Promise<void> => {
  const { offers } = await import('./offers.ts')
  const tree = prebuiltTree() ?? describeCommand(await program.tree())
  const found = await offers(tree, typed, async (kind) => {
    const { candidates } = await import('./candidates.ts')
    return candidates(kind, typed.words, io).catch(() => [])
  })
  for (const { value, about } of found.candidates) io.stdout.write(`${value}\t${about}\n`)
  if (found.files) io.stdout.write(':files\n')
}

/** `svc completion SHELL` prints the script; the script asks `svc completion words`. */
export const registerCompletion = defineCommand<{ current: string }>({
  usage: '<shell>',
  args: ['[shell]', '[words...]'],
  options: { '--current <text>': { about: '', value: '', hidden: true } },
  examples: ['source <(svc completion bash)'],
  prints: [],
  action: async ({ args: [shell, ...words], options }, context, program) => {
    if (shell === 'words') return offer({ words, ...options }, context, program)
    if (shell === undefined || !Object.hasOwn(scripts, shell))
      throw usageError(
        shell === undefined ? 'Missing <shell>' : `"${shell}" is not a supported shell`,
        `svc completion bash; the shells are ${Object.keys(scripts).join(', ')}`,
      )
    context.io.stdout.write(scripts[shell as keyof typeof scripts])
  },
})
