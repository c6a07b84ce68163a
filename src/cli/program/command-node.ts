import type { Argument, Command, Option } from 'commander'

const scopes = new WeakMap<Command, string>()

/** Sets the required scope of a command (`ask or read`) for its help and the generated docs. */
export const noteScope = (command: Command, scope: string): void => {
  scopes.set(command, scope)
  command.addHelpText('after', `\nScope of the key: ${scope}`)
}

/** Why a flag is required. */
export type Need = {
  /** When it is not: `not with --user`. */
  note?: string
  /** svc asks for it on a terminal. */
  asked: boolean
}

const needs = new WeakMap<Option, Need>()

/** Marks a flag as required in help and in the generated docs. The command itself refuses to run without it. */
export const noteNeed = (option: Option, need: Need): void => void needs.set(option, need)

export type FlagNode = {
  flags: string
  about: string
  takesValue: boolean
  choices: string[]
  /** Null if it is optional. */
  required: Need | null
}

/** One command of the tree as plain data, from which help, completions and docs are generated. */
export type CommandNode = {
  name: string
  about: string
  /** Above it in the help of the program; empty for a subcommand. */
  heading: string
  usage: string
  args: string[]
  /** The values of its first argument; empty if it takes others too. */
  choices: readonly string[]
  /** Its last argument can be repeated. */
  repeats: boolean
  flags: FlagNode[]
  /** The required scope in words; null for a group, or without a key. */
  scope: string | null
  /** The text below its help: an example. */
  after: string
  commands: CommandNode[]
}

/** The choices of a flag are at the end of its description: `(a|b|c)` or `(a|b; more)`. */
const choicesOf = (option: Option): string[] =>
  option.argChoices ?? /\(([\w-]+(?:\|[\w-]+)+)/.exec(option.description)?.[1]?.split('|') ?? []

const flagNode = (option: Option): FlagNode => ({
  flags: option.flags,
  about: option.description,
  takesValue: option.required || option.optional,
  choices: choicesOf(option),
  required: needs.get(option) ?? null,
})

export const afterOf = (command: Command): string => {
  let text = ''
  // Commander emits this event for `addHelpText`; its types do not declare the emitter.
  const { emit } = command as Command & NodeJS.EventEmitter
  emit.call(command, 'afterHelp', { error: false, command, write: (part: string) => (text += part) })
  return text
}

/** Commander calls flags options and puts them first. */
const usageOf = (command: Command): string =>
  command.usage().replace(/^\[options\] ?(.*)$/, (_, args: string) => `${args} [flags]`.trimStart())

/** A command and its subcommands, without hidden ones. */
export const describeCommand = (command: Command): CommandNode => ({
  name: command.name(),
  about: command.description(),
  heading: command.helpGroup(),
  usage: usageOf(command),
  args: command.registeredArguments.map((argument: Argument) => argument.name()),
  choices: command.registeredArguments[0]?.argChoices ?? [],
  repeats: command.registeredArguments.at(-1)?.variadic === true,
  flags: command.options.filter(({ hidden }) => !hidden).map(flagNode),
  scope: scopes.get(command) ?? null,
  after: afterOf(command),
  commands: command.createHelp().visibleCommands(command).map(describeCommand),
})

/** The words that lead to a command: `['geofence', 'create']`. */
export const wordsOf = (command: Command): string[] =>
  command.parent ? [...wordsOf(command.parent), command.name()] : []
