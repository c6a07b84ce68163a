import type { Command } from 'commander'

/** The words that lead to a command: `['geofence', 'create']`. */
export const wordsOf = (command: Command): string[] =>
  command.parent ? [...wordsOf(command.parent), command.name()] : []
