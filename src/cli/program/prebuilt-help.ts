import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandNode } from './command-node.ts'
import { helpText } from './help-text.ts'

/**
 * The help that the build wrote down (the tree of `svc commands`): printing it needs no command tree. Undefined where
 * `argv` is more than words and a plain -h or --help, or where a word is not known: then the command tree answers.
 */
export const writtenHelp = (argv: readonly string[], width: number): string | undefined => {
  const words = argv.slice(0, -1)
  const asks = argv.length === 0 || argv.at(-1) === '--help' || argv.at(-1) === '-h'
  if (!asks || words.some((word) => word.startsWith('-'))) return undefined
  let node: CommandNode | undefined
  try {
    node = JSON.parse(readFileSync(join(__dirname, 'help.json'), 'utf8')) as CommandNode
  } catch {
    return undefined
  }
  for (const word of words) node = node?.commands.find(({ name }) => name === word)
  return node && helpText(node, words, width) + node.after
}
