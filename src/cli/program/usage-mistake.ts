import type { Command, CommanderError, Option } from 'commander'
import { usageError, type SvcError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { listed } from '../../core/sentence.ts'
import { withoutKeys } from '../terminal/mask.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { looksSecret } from '../../core/secret-name.ts'
import { withoutSecret } from './command-line.ts'
import { declarationOf, wordsOf } from './command-node.ts'
import { canRepeat, type TypedFlag } from './watch-flags.ts'

// Usage errors for what the parser refuses: they name the wrong word, and the help of the command.

const masked = (text: string): string => withoutPhones(withoutKeys(withoutSecret(text)))

/** A typed word in an error. */
const shown = (text: string): string => `"${masked(text).slice(0, 60)}"`

const named = (command: Command): string => ['svc', ...wordsOf(command)].join(' ')

const helpOf = (command: Command): string => `${named(command)} --help`

/** The first example in the help of a command. */
const exampleOf = (command: Command): string => declarationOf(command).examples?.[0] ?? helpOf(command)

/** The flags of a command and of the groups above it. */
const flagsOf = (at: Command): Option[] => [...at.options, ...(at.parent ? flagsOf(at.parent) : [])]

const flagCalled = (typed: string, at: Command): Option | undefined =>
  flagsOf(at).find(({ long, short }) => typed === long || typed === short)

/** The command that the words select, and the index of the word after them. */
const read = (program: Command, argv: readonly string[]): { at: Command; next: number } => {
  let at = program
  for (const [i, word] of argv.entries()) {
    if (word.startsWith('-') || (i > 0 && flagCalled(argv[i - 1]!, at)?.required)) continue
    const child = at.commands.find((one) => one.name() === word)
    if (!child) return { at, next: i }
    at = child
  }
  return { at, next: argv.length }
}

/** What to type instead of a command or a flag that others have. */
const instead: Record<string, string> = {
  version: 'svc --version',
  'rule update':
    'Edit the rule in the output of svc export, and type svc apply FILE: a rule is replaced as a whole',
  'group update': 'svc group add, svc group remove',
  'rule show': 'svc rule get NAME',
  'group show': 'svc group get NAME',
  'approve cancel': 'svc approve withdraw REQUEST_ID',
  'diff --org': 'The file names the organization: svc diff FILE',
  'apply --org': 'The file names the organization: svc apply FILE',
}

const unknownCommand = (at: Command, typed: string): SvcError => {
  const below = at.commands.find((child) => child.commands.some((one) => one.name() === typed))
  const isOfProfile = at.parent === null && /^log(?:in|out)$/.test(typed)
  const group = isOfProfile ? 'profile' : below?.name()
  const near =
    group === undefined
      ? nearest(
          typed,
          at.commands.map((child) => child.name()),
        )
      : `${group} ${typed}`
  const meant = near === undefined ? '' : `; did you mean "${named(at)} ${near}"?`
  const hint = instead[[...wordsOf(at), typed].join(' ')] ?? helpOf(at)
  return usageError(`${shown(typed)} is not a command of ${named(at)}${meant}`, hint)
}

const unknownFlag = (at: Command, whole: string): SvcError => {
  const typed = whole.split('=')[0]!
  if (flagCalled(typed, at)) return usageError(`${typed} does not take a value`, helpOf(at))
  const known = flagsOf(at).flatMap(({ hidden, long }) => (hidden || long === undefined ? [] : [long]))
  // Whoever types the beginning of a flag means that one.
  const near = known.find((long) => typed.length > 4 && long.startsWith(typed)) ?? nearest(typed, known)
  const meant = near === undefined ? '' : `; did you mean ${near}?`
  // The flag may be of the command that svc runs or tests.
  const isOfOther = near === undefined && at.usage().includes('-- <')
  const isTooEarly = near === undefined && at.commands.length > 0
  const usual = isOfOther
    ? `Write -- before a command with flags of its own: ${named(at)} -- COMMAND ${typed.slice(0, 60)}`
    : isTooEarly
      ? `Write the flags of a command after its name: ${named(at)} COMMAND ${typed.slice(0, 60)}`
      : helpOf(at)
  const hint = instead[[...wordsOf(at), typed].join(' ')] ?? usual
  return usageError(`${typed.slice(0, 60)} is not a flag of ${named(at)}${meant}`, hint)
}

/** The flag of which a second word was taken for an argument: `--argv terraform destroy`. */
const needsRepeating = (at: Command, argv: readonly string[]): string | undefined =>
  argv.find((word, i) => {
    const option = flagCalled(word, at)
    const [first, second] = argv.slice(i + 1)
    return option?.required && canRepeat(option) && first !== undefined && second?.startsWith('-') === false
  })

const noValue = (flags: string, at: Command): SvcError =>
  usageError(`${flags.replace(/^-\w, /, '').split(' ')[0]} requires a value: ${flags}`, helpOf(at))

const tooManyArguments = (at: Command, message: string, argv: readonly string[]): SvcError => {
  // A flag without its value takes the next flag for it, and leaves the value of that one.
  const flags = argv.map((word) => flagCalled(word, at))
  const empty = flags.find((one, i) => one?.required && flags[i + 1])
  if (empty) return noValue(empty.flags, at)
  const [, most, typed] = /Expected (\d+) arguments? but got (\d+)/.exec(message)!
  const flag = needsRepeating(at, argv)
  if (flag !== undefined)
    return usageError(
      `Too many arguments for ${named(at)}: repeat ${flag} before each word: ${flag} A ${flag} B`,
      helpOf(at),
    )
  return usageError(
    most === '0'
      ? `${named(at)} takes no arguments, only flags`
      : `Too many arguments for ${named(at)}: it takes ${most}, not ${typed}; quote one that contains spaces`,
    helpOf(at),
  )
}

/** A refusal of the parser as a usage error. */
export const asUsage = ({ code, message }: CommanderError, argv: string[], program: Command): SvcError => {
  const [, typed = ''] = /'([^]*)'/.exec(message) ?? []
  const { at, next } = read(program, argv)
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(at, typed)
    case 'commander.unknownOption':
      return unknownFlag(at, typed)
    case 'commander.help': {
      const names = at.createHelp().visibleCommands(at)
      return usageError(
        `"${named(at)}" requires a command: ${names.map((child) => child.name()).join(', ')}`,
        helpOf(at),
      )
    }
    case 'commander.optionMissingArgument':
      return noValue(typed, at)
    case 'commander.missingArgument':
      // The example would leave out what else was typed.
      return usageError(`Missing <${typed}>`, argv.length > wordsOf(at).length ? helpOf(at) : exampleOf(at))
    case 'commander.invalidArgument': {
      const argument = at.registeredArguments.find(({ argChoices }) => argChoices !== undefined)
      if (argument === undefined) break
      const value = message.slice(message.indexOf("'") + 1, message.indexOf("' is invalid for argument"))
      const wrong = `<${argument.name()}> must be ${listed(argument.argChoices!)}, not ${shown(value)}`
      return usageError(wrong, helpOf(at))
    }
    case 'commander.excessArguments':
      // A group that is a command too, such as `svc mcp`, takes a wrong word for an argument.
      return at.commands.length > 0 && argv[next] !== undefined
        ? unknownCommand(at, argv[next])
        : tooManyArguments(at, message, argv)
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
