import type { Argument, Command, Option } from 'commander'

const scopes = new WeakMap<Command, string>()

/** Says in the help of a command, and in what is made from the tree, which scope its key needs: `ask or read`. */
export const noteScope = (command: Command, scope: string): void => {
  scopes.set(command, scope)
  command.addHelpText('after', `\nScope of the key: ${scope}`)
}

export const scopeOf = (command: Command): string | undefined => scopes.get(command)

export type FlagNode = {
  flags: string
  about: string
  takesValue: boolean
  choices: string[]
}

/** One command of the tree, as plain data: what help, completions and docs are made from. */
export type CommandNode = {
  name: string
  about: string
  usage: string
  args: string[]
  /** Its last argument may be given several times. */
  repeats: boolean
  flags: FlagNode[]
  /** Which scope its key needs, in words; null where it needs no key, or is a group. */
  scope: string | null
  /** What stands below its help: an example. */
  after: string
  commands: CommandNode[]
}

/** Words that a flag takes stand at the end of its text: `(a|b|c)` or `(a|b; more)`. */
const choicesOf = (option: Option): string[] =>
  option.argChoices ?? /\(([\w-]+(?:\|[\w-]+)+)/.exec(option.description)?.[1]?.split('|') ?? []

const flagNode = (option: Option): FlagNode => ({
  flags: option.flags,
  about: option.description,
  takesValue: option.required || option.optional,
  choices: choicesOf(option),
})

const afterOf = (command: Command): string => {
  let text = ''
  // Commander's own word for the texts of `addHelpText`; its types do not say that it is an emitter.
  const { emit } = command as Command & NodeJS.EventEmitter
  emit.call(command, 'afterHelp', { error: false, command, write: (part: string) => (text += part) })
  return text
}

/** Commander calls flags options and puts them first. */
const usageOf = (command: Command): string =>
  command.usage().replace(/^\[options\] ?(.*)$/, (_, args: string) => `${args} [flags]`.trimStart())

/** A command and all below it; what is hidden stays so. */
export const describeCommand = (command: Command): CommandNode => ({
  name: command.name(),
  about: command.description(),
  usage: usageOf(command),
  args: command.registeredArguments.map((argument: Argument) => argument.name()),
  repeats: command.registeredArguments.at(-1)?.variadic === true,
  flags: command.options.filter(({ hidden }) => !hidden).map(flagNode),
  scope: scopeOf(command) ?? null,
  after: afterOf(command),
  commands: command.createHelp().visibleCommands(command).map(describeCommand),
})

/** The words that lead to a command: `['geofence', 'create']`. */
export const wordsOf = (command: Command): string[] =>
  command.parent ? [...wordsOf(command.parent), command.name()] : []

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
