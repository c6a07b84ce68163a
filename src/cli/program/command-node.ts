import type { Argument, Command, Option } from 'commander'
import type { Format } from '../terminal/output.ts'

/** What commander does not know of a command. */
export type Declaration = {
  /** Below the flags in its help. */
  note?: string | undefined
  examples?: readonly string[]
  /** The required scope in words. */
  scope?: string | undefined
  /** It prints text, or one of these formats. --jq does not apply to it. */
  prints?: readonly Format[]
  /** Its answer can have an id. */
  hasId?: boolean
}

const declarations = new WeakMap<Command, Declaration>()

export const declare = (command: Command, declaration: Declaration): void =>
  void declarations.set(command, declaration)

export const declarationOf = (command: Command): Declaration => declarations.get(command) ?? {}

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
  /** The text below its flags: a note, examples and the scope. */
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

const afterOf = ({ note, examples = [], scope }: Declaration): string =>
  [
    ...(note === undefined ? [] : [note]),
    ...(examples.length === 0
      ? []
      : [[examples.length === 1 ? 'Example:' : 'Examples:', ...examples].join('\n  ')]),
    ...(scope === undefined ? [] : [`Scope of the key: ${scope}`]),
  ]
    .map((text) => `\n${text}\n`)
    .join('')

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
  scope: declarationOf(command).scope ?? null,
  after: afterOf(declarationOf(command)),
  commands: command.createHelp().visibleCommands(command).map(describeCommand),
})

/** The words that lead to a command: `['geofence', 'create']`. */
export const wordsOf = (command: Command): string[] =>
  command.parent ? [...wordsOf(command.parent), command.name()] : []
