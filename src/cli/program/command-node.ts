import type { Argument, Command } from 'commander'
import type { Format } from '../terminal/output.ts'

/** Why a flag is required. */
export type Need = {
  /** When it is not: `not with --user`. */
  note?: string
  /** svc asks for it on a terminal. */
  asked: boolean
}

/** What a flag does; if it has them, also its default, what collects its values, and why it is required. */
export type Flag =
  | string
  | {
      about: string
      value?: string
      read?: ((value: string, before?: string[]) => string[]) | undefined
      /** The command itself refuses to run without it. */
      need?: Need | undefined
      hidden?: boolean
    }

/** Flags, each under the way in which it is typed: `-y, --yes`, `--org <org>`. */
export type Flags = Readonly<Record<string, Flag>>

/** What commander cannot say about a command. */
export type Declaration = {
  options?: Flags
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
const choicesOf = (about: string): string[] => /\(([\w-]+(?:\|[\w-]+)+)/.exec(about)?.[1]?.split('|') ?? []

const flagNode = (flags: string, flag: Flag): FlagNode[] => {
  const { about, need = null, hidden } = typeof flag === 'string' ? { about: flag } : flag
  if (hidden) return []
  return [{ flags, about, takesValue: /[>\]]$/.test(flags), choices: choicesOf(about), required: need }]
}

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
  flags: Object.entries(declarationOf(command).options ?? {}).flatMap(([flags, flag]) =>
    flagNode(flags, flag),
  ),
  scope: declarationOf(command).scope ?? null,
  after: afterOf(declarationOf(command)),
  commands: command.createHelp().visibleCommands(command).map(describeCommand),
})

/** The words that lead to a command: `['geofence', 'create']`. */
export const wordsOf = (command: Command): string[] =>
  command.parent ? [...wordsOf(command.parent), command.name()] : []
