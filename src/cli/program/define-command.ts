import { Option, type Argument, type Command } from 'commander'
import type { Context } from '../context/context.ts'
import { usageError } from '../../core/errors.ts'
import type { Globals, Io } from '../terminal/io.ts'
import { isFormat } from '../terminal/output.ts'
import { declarationOf, declare, type Declaration, type Flag } from './command-node.ts'

/** Runs a command line as if it were typed and returns the exit code. */
export type RunLine = (argv: string[], io: Io) => Promise<number>

/** The whole program, for commands that read the command tree or run other commands. */
export type Program = {
  /** The typed words: only their command gets flags. Without them, every command does. */
  words?: readonly string[] | undefined
  /** The command tree: all of it, or the branch that `words` name. */
  tree(words?: readonly string[]): Promise<Command>
  run: RunLine
}

/** Adds its commands to a group. */
export type Register = (group: Command, context: Context, program: Program) => void | Promise<void>

/** What was typed after the words of a command. */
export type Typed<O = Record<string, unknown>, A = readonly string[]> = { args: A; options: O }

export type Action<O = Record<string, unknown>, A extends readonly unknown[] = readonly string[]> = (
  typed: Typed<O, A>,
  context: Context,
  program: Program,
) => unknown

export type Definition<
  O = Record<string, unknown>,
  A extends readonly unknown[] = readonly string[],
> = Declaration & {
  /** Without a name, it is the group itself. */
  name?: string
  hidden?: boolean | undefined
  /** A group has one already. */
  summary?: string
  args?: readonly (string | Argument)[]
  /** If it is not the arguments and `[flags]`: an argument whose absence the action explains is optional for the parser. */
  usage?: string
  /** Keeps every exit code of svc itself, also of a wrong flag, apart from those of the program that the command runs. */
  runsProgram?: boolean
  action: Action<O, A>
}

const optionFor = (flags: string, flag: Flag): Option => {
  const { about, value, read, hidden = false } = typeof flag === 'string' ? { about: flag } : flag
  const option = new Option(flags, about).default(value).hideHelp(hidden)
  return read ? option.argParser(read) : option
}

/** Declares a command. `O` are the values of its flags, and `A` its arguments. */
export const defineCommand =
  <O = Record<string, unknown>, A extends readonly unknown[] = readonly string[]>(
    definition: Definition<O, A>,
  ): Register =>
  (group, context, program) => {
    const { name, hidden = false, summary, args = [], options = {} } = definition
    const command = name === undefined ? group : group.command(name, { hidden })
    if (summary !== undefined) command.description(summary)
    for (const one of args) command.addArgument(typeof one === 'string' ? command.createArgument(one) : one)
    if (definition.usage !== undefined) command.usage(definition.usage)
    for (const [flags, flag] of Object.entries(options)) command.addOption(optionFor(flags, flag))
    declare(command, definition)
    if (definition.runsProgram)
      group.hook('preSubcommand', (_, chosen) => {
        if (chosen === command) context.exitOffset = 100
      })
    command.action(async () => {
      await definition.action({ args: command.args as never, options: command.opts() as O }, context, program)
    })
  }

/** Several commands of one group. */
export const together =
  (...registers: readonly Register[]): Register =>
  async (group, context, program) => {
    for (const register of registers) await register(group, context, program)
  }

/** Throws a usage error for a flag that this command would ignore or could not apply to its answer. */
export const checkAccepted = (command: Command, words: string, { output, jq }: Globals): void => {
  const { prints, hasId } = declarationOf(command)
  if (prints && jq !== undefined)
    throw usageError(`svc ${words} does not support --jq`, `svc ${words} --help`)
  if (output === 'id' && !prints && !hasId)
    throw usageError(`svc ${words} has no id in its answer`, '-o json shows the answer')
  if (prints && output !== undefined && isFormat(output) && !prints.includes(output))
    throw usageError(
      `svc ${words} does not support -o ${output}`,
      prints.length > 0 ? `-o ${prints.join(' or -o ')}` : 'Remove -o',
    )
}
