import type { Command } from 'commander'
import type { Context } from '../context/context.ts'

/** Keeps every exit code of svc itself, also of a wrong flag, apart from those of the program that the command runs. */
export const withOwnCodes = (command: Command, context: Context): Command => {
  command.parent!.hook('preSubcommand', (_, chosen) => {
    if (chosen === command) context.exitOffset = 100
  })
  return command
}
