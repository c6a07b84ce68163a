import type { Argument, Command, Option } from 'commander'
import { safeJson } from '../../core/safe-text.ts'
import type { Context } from '../context.ts'

export type FlagNode = {
  flags: string
  about: string
  takesValue: boolean
  choices: string[]
}

/** One command of the tree, as plain data: what completions and docs are made from. */
export type CommandNode = {
  name: string
  about: string
  usage: string
  args: string[]
  flags: FlagNode[]
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

export const describeCommand = (command: Command): CommandNode => ({
  name: command.name(),
  about: command.description(),
  usage: command.usage(),
  args: command.registeredArguments.map((argument: Argument) => argument.name()),
  flags: command.options.map(flagNode),
  commands: command.commands.map(describeCommand),
})

/** `svc commands`: the whole command tree as JSON. */
export const registerCommands = (command: Command, context: Context): void => {
  command.action(async () => {
    const { buildProgram } = await import('../program.ts')
    const globals = context.globals
    const tree = describeCommand(await buildProgram(context))
    context.globals = globals
    context.io.stdout.write(`${safeJson(tree, 2)}\n`)
  })
}
