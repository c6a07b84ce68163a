import type { Command, CommanderError, Option } from 'commander'
import { usageError, type SvcError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { listed } from '../../core/sentence.ts'
import { withoutKeys } from '../terminal/mask.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { looksSecret, withoutSecret } from './command-line.ts'
import { sameVerb, wordsOf } from './command-node.ts'
import { childCalled, flagCalled, flagNear, read, swapped, takesFile, withoutOperand } from './reading.ts'
import { helpOf, named, typeInstead, withExamples, type Suggesting } from './suggestion.ts'
import { surplus, valueForSwitch } from './surplus.ts'
import type { TypedFlag } from './watch-flags.ts'

// Usage errors for what the parser refuses: they name the wrong word and a command to type instead.

/** A typed word in an error. */
const shown = (text: string): string => `"${withoutPhones(withoutKeys(withoutSecret(text))).slice(0, 60)}"`

const visibleIn = (group: Command): Command[] => group.createHelp().visibleCommands(group)

/** What other programs call a command of svc. */
const elsewhere: Record<string, readonly string[]> = {
  login: ['profile', 'login'],
  'auth login': ['profile', 'login'],
  logout: ['profile', 'remove'],
  'auth logout': ['profile', 'remove'],
  'auth status': ['whoami'],
  config: ['profile'],
  configure: ['profile', 'login'],
}

const descend = (program: Command, words: readonly string[]): Command =>
  words.reduce((at, word) => childCalled(at, word) ?? at, program)

export type Typing = Suggesting & {
  /** The name of the current profile if it is saved. */
  profile(): Promise<string | undefined>
}

/** The command that other programs call like this, and the line to type. */
const foreign = async (
  argv: readonly string[],
  { program, asks, profile }: Typing,
): Promise<{ command: Command; line: string } | undefined> => {
  const words = argv.filter((word) => !word.startsWith('-'))
  const known = [words.slice(0, 2), words.slice(0, 1)].find((some) =>
    Object.hasOwn(elsewhere, some.join(' ')),
  )
  if (!known) return undefined
  const path = elsewhere[known.join(' ')]!
  const rest = argv.slice(argv.indexOf(known.at(-1)!) + 1)
  const command = descend(program, path)
  if (path[1] === 'remove') {
    const name = await profile()
    return {
      command,
      line:
        name === undefined
          ? 'svc profile list'
          : `svc profile remove ${shellQuote(name)}${asks ? '' : ' --yes'}`,
    }
  }
  const line = typeInstead(read(program, [...path, ...rest]), { program, asks })
  const isPiped = path[1] !== 'login' || asks || line.endsWith('--help')
  return { command, line: isPiped ? line : `${line.replace(' --with-key', '')} --with-key < key.txt` }
}

/** The command with this name if only one group has it: `svc user enroll` for `svc approve enroll`. */
const onlyCommandCalled = (program: Command, name: string): Command | undefined => {
  const found = visibleIn(program).flatMap((group) =>
    visibleIn(group).filter((child) => child.name() === name),
  )
  return found.length === 1 ? found[0] : undefined
}

const unknownCommand = async (typing: Typing, argv: readonly string[], typed: string): Promise<SvcError> => {
  const { program } = typing
  let reading = read(program, argv)
  const turned = read(program, swapped(argv))
  if (reading.stray !== undefined && reading.at === program && turned.stray === undefined) reading = turned
  const group = reading === turned ? program : (reading.corrected?.group ?? reading.at)
  const wrong = `${shown(typed)} is not a command of ${named(group)}`
  const same = await foreign(argv, typing)
  if (same) return usageError(`${wrong}; did you mean "${named(same.command)}"?`, same.line)
  if (reading.stray === undefined)
    return usageError(`${wrong}; did you mean "${named(reading.at)}"?`, typeInstead(reading, typing))
  const verbs = group.commands.filter((child) => sameVerb(child.name()).includes(typed))
  const other = verbs.length === 0 ? onlyCommandCalled(program, typed) : undefined
  if (other) {
    const rest = argv.slice(argv.indexOf(typed) + 1)
    const line = withExamples(read(program, [...wordsOf(other), ...rest]), typing)
    return usageError(`${wrong}; did you mean "${named(other)}"?`, line)
  }
  const meant = verbs.map((child) => `"${named(child)}"`).join(' or ')
  return usageError(meant === '' ? wrong : `${wrong}; did you mean ${meant}?`, typeInstead(reading, typing))
}

const unknownFlag = (typing: Typing, argv: readonly string[], whole: string): SvcError => {
  const reading = read(typing.program, argv)
  const typed = whole.split('=')[0]!
  const known = flagCalled(typed, reading.at)
  if (known && whole.includes('=')) {
    const flag = reading.tokens.find((token) => token.option === known)!
    return valueForSwitch(reading, flag, { text: whole.slice(typed.length + 1) }, typing)
  }
  const near = flagNear(typed, reading.at)
  const wrong = `${typed.slice(0, 60)} is not a flag of ${named(reading.at)}`
  if (near === undefined) return usageError(wrong, helpOf(reading.at))
  const meant =
    looksSecret(typed) && takesFile(near)
      ? `${near.long} reads it from a file, or with - from standard input`
      : `did you mean ${near.long}?`
  return usageError(`${wrong}; ${meant}`, typeInstead(reading, typing))
}

/** A refusal of the parser as a usage error. `program` is the whole command tree. */
export const asUsage = async (
  { code, message }: CommanderError,
  argv: string[],
  typing: Typing,
): Promise<SvcError> => {
  const { program } = typing
  const [, typed = ''] = /'([^]*)'/.exec(message) ?? []
  const { at } = read(program, argv)
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(typing, argv, typed)
    case 'commander.unknownOption':
      return unknownFlag(typing, argv, typed)
    case 'commander.help':
      return usageError(
        `"${named(at)}" requires a command: ${visibleIn(at)
          .map((child) => child.name())
          .join(', ')}`,
        helpOf(at),
      )
    case 'commander.optionMissingArgument':
      return usageError(
        `${typed.replace(/^-\w, /, '').split(' ')[0]} requires a value: ${typed}`,
        withExamples(read(program, argv), typing),
      )
    case 'commander.missingArgument':
      return usageError(`Missing <${typed}>`, withExamples(read(program, argv), typing))
    case 'commander.invalidArgument': {
      const argument = at.registeredArguments.find(({ argChoices }) => argChoices !== undefined)
      if (argument === undefined) break
      const value = message.slice(message.indexOf("'") + 1, message.indexOf("' is invalid for argument"))
      return usageError(
        `<${argument.name()}> must be ${listed(argument.argChoices!)}, not ${shown(value)}`,
        withExamples(withoutOperand(read(program, argv), value), typing),
      )
    }
    case 'commander.excessArguments': {
      // A group that is a command too, such as `svc mcp`, takes a wrong word for an argument.
      const reading = read(program, argv)
      const word = reading.corrected?.word ?? reading.stray
      return word === undefined ? surplus(reading, typing) : unknownCommand(typing, argv, word)
    }
  }
  return usageError(message.replace(/^error: /, '').replaceAll('\n', ' '), helpOf(at))
}

/** The flag as it was typed: `-o`, unless --output was. */
const typedName = ({ long, short }: Option, argv: readonly string[]): string => {
  const isLong = argv.some((word) => word === long || word.startsWith(`${long}=`))
  return (isLong ? long : (short ?? long))!
}

/** The usage error for a flag that is given twice, or together with its negation. */
export const flagTwice = (first: TypedFlag, second: TypedFlag, argv: readonly string[]): SvcError => {
  const [one, other] = [first, second].map(({ option }) => typedName(option, argv))
  if (first.option !== second.option)
    return usageError(`${one} cannot be combined with ${other}`, `Remove ${one} or ${other}`)
  const values = [first.value, second.value].flatMap((value) => (value === undefined ? [] : [value]))
  const isShown = values.length === 2 && !looksSecret(one!)
  const both = isShown ? `, not with ${values.map(shown).join(' and ')}` : ''
  return usageError(`${one} can be given only once${both}`, `Remove one ${one}`)
}
