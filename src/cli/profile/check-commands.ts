import type { Command } from 'commander'
import { nearest } from '../../core/nearest.ts'
import { usageError } from '../../core/errors.ts'
import type { Context } from '../context.ts'

const allWords = (command: Command, before: string[] = []): string[] =>
  command.commands.flatMap((child) => {
    const words = [...before, child.name()]
    return [words.join(' '), ...allWords(child, words)]
  })

/** Fails where one of them is no command and no group: a typing error would guard nothing. */
export const checkCommands = async (listed: readonly string[], context: Context): Promise<void> => {
  const { buildProgram } = await import('../program.ts')
  const { globals } = context
  const known = allWords(await buildProgram(context))
  context.globals = globals
  const wrong = listed.find((words) => !known.includes(words))
  if (wrong !== undefined) {
    const near = nearest(wrong, known)
    throw usageError(
      `require_approval: svc has no command "${wrong}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
      'svc profile set require_approval="org delete, user delete"',
    )
  }
  if (listed.some((words) => words === 'approve' || words.startsWith('approve ')))
    throw usageError(
      'require_approval: svc approve asks a person itself',
      'list what changes something: org delete, user, apply',
    )
}
