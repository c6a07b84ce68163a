import { usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { type CommandNode, describeCommand } from '../program/command-node.ts'
import type { Register } from '../program/program.ts'
import { completionTree, type CompletionTree, kinds, type ValueKind } from './tree.ts'
import { bash } from './bash.ts'
import { fish } from './fish.ts'
import { powershell } from './powershell.ts'
import { zsh } from './zsh.ts'

/** Each shell's script and the ending of its file. */
export const shells = {
  bash: { make: bash, ending: 'bash' },
  zsh: { make: zsh, ending: 'zsh' },
  fish: { make: fish, ending: 'fish' },
  powershell: { make: powershell, ending: 'ps1' },
} as const satisfies Record<string, { make(tree: CompletionTree): string; ending: string }>

/** The script that completes the commands of `root` in one shell. */
export const completionScript = (shell: keyof typeof shells, root: CommandNode): string =>
  shells[shell].make(completionTree(root))

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
