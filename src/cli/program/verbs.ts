import type { Command } from 'commander'

// Words for the same verb. The one that a group has is its command; the others reach it and are not shown.
const synonyms = [
  ['create', 'add', 'new'],
  ['list', 'ls'],
  ['get', 'show', 'describe', 'view'],
  ['delete', 'remove', 'rm', 'revoke'],
  ['update', 'edit'],
]

/** Words that mean the same as this one, itself included. */
export const sameVerb = (word: string): readonly string[] =>
  synonyms.find((words) => words.includes(word)) ?? [word]

/** Lets the commands of a group be reached by other words too, where only one of them can be meant. */
export const aliasVerbs = (group: Command): void => {
  const names = group.commands.map((command) => command.name())
  for (const command of group.commands) {
    const words = sameVerb(command.name())
    // `user delete` erases and `user remove` does not: `user rm` must not choose between them.
    if (names.filter((name) => words.includes(name)).length === 1)
      command.aliases(words.filter((word) => word !== command.name()))
    aliasVerbs(command)
  }
}
