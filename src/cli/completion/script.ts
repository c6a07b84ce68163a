import type { CommandNode } from '../program/command-node.ts'
import { bash } from './bash.ts'
import { fish } from './fish.ts'
import { powershell } from './powershell.ts'
import { completionTree, type CompletionTree } from './tree.ts'
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
