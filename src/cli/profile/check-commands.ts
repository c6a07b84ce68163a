import type { Command } from 'commander'
import { nearest } from '../../core/nearest.ts'
import { usageError } from '../../core/errors.ts'
import { wordsOf } from '../program/command-words.ts'

const allWords = (command: Command, before: string[] = []): string[] =>
  command.commands.flatMap((child) => {
    const words = [...before, child.name()]
    return [words.join(' '), ...allWords(child, words)]
  })

/** The name of the command that these words reach; the words themselves where they reach none. */
const named = (tree: Command, words: string): string => {
  let at: Command | undefined = tree
  for (const word of words.split(' '))
    at = at?.commands.find((child) => child.name() === word || child.aliases().includes(word))
  return at ? wordsOf(at).join(' ') : words
}

/**
 * The listed commands and groups by their names. Fails where one of them is neither: a typing error would guard
 * nothing.
 */
export const checkCommands = (typed: readonly string[], tree: Command): string[] => {
  const known = allWords(tree)
  const listed = typed.map((words) => named(tree, words))
  const wrong = listed.find((words) => !known.includes(words))
  if (wrong !== undefined) {
    const near = nearest(wrong, known)
    throw usageError(
      `require_approval: "${wrong}" is not a command of svc${near === undefined ? '' : `; did you mean "${near}"?`}`,
      'svc profile set require_approval="org delete, user delete"',
    )
  }
  if (listed.some((words) => words === 'approve' || words.startsWith('approve ')))
    throw usageError(
      'require_approval cannot list approve: its commands are the requests',
      'List commands that change something: org delete, user, apply',
    )
  return listed
}
