import type { Command, CommanderError, Option } from 'commander'
import { usageError, type SvcError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { listed } from '../../core/sentence.ts'
import { withoutKeys } from '../terminal/mask.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { looksSecret, withoutSecret } from './command-line.ts'
import { afterOf, sameVerb, wordsOf } from './command-node.ts'
import type { TypedFlag } from './watch-flags.ts'

// Usage errors for what the parser refuses: they name the wrong word, and the corrected line or the help of the command.

const masked = (text: string): string => withoutPhones(withoutKeys(withoutSecret(text)))

/** A typed word in an error. */
const shown = (text: string): string => `"${masked(text).slice(0, 60)}"`

const named = (command: Command): string => ['svc', ...wordsOf(command)].join(' ')

const helpOf = (command: Command): string => `${named(command)} --help`

/** The first example in the help of a command. */
const exampleOf = (command: Command): string =>
  /^ {2}(svc .*)$/m.exec(afterOf(command))?.[1] ?? helpOf(command)

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

/** Whether the word repeats a secret: a key, a number, or the flag of a secret, except one that names a file. */
const isSecret = (word: string): boolean =>
  masked(word) !== word || (word.startsWith('-') && looksSecret(word) && !/^--[\w-]+-file(?:=|$)/.test(word))

/** The corrected line, or the help of its command if the line has a secret, is long or selects no command. */
const typeInstead = (program: Command, argv: readonly string[]): string => {
  const { at } = read(program, argv)
  const line = ['svc', ...argv.map(shellQuote)].join(' ')
  return argv.some(isSecret) || line.length > 200 || at.commands.length > 0 ? helpOf(at) : line
}

/** What other programs call a command of svc. */
const elsewhere: Record<string, string> = {
  login: 'svc profile login',
  'auth login': 'svc profile login',
  logout: 'svc profile remove',
  'auth logout': 'svc profile remove',
  'auth status': 'svc whoami',
  config: 'svc profile list',
  configure: 'svc profile login',
}

const unknownCommand = (program: Command, argv: readonly string[], typed: string): SvcError => {
  const { at, next } = read(program, argv)
  const wrong = `${shown(typed)} is not a command of ${named(at)}`
  const path = [...wordsOf(at), typed].join(' ')
  const foreign = Object.hasOwn(elsewhere, path) ? elsewhere[path] : undefined
  if (foreign) return usageError(`${wrong}; did you mean "${foreign}"?`, `${foreign} --help`)
  const names = at.commands.map((child) => child.name())
  const same = names.filter((name) => sameVerb(name).includes(typed))
  const near = nearest(typed, names)
  const meant = same.length > 0 || near === undefined ? same : [near]
  if (meant.length === 0) return usageError(wrong, helpOf(at))
  return usageError(
    `${wrong}; did you mean ${meant.map((name) => `"${named(at)} ${name}"`).join(' or ')}?`,
    // `user delete` erases and `user remove` does not: svc does not choose between them.
    meant.length > 1 ? helpOf(at) : typeInstead(program, argv.with(next, meant[0]!)),
  )
}

/** The flag that was probably meant: `--limt`, `--org-id` or `--otp` for `--limit`, `--org` or `--otp-file`. */
const flagNear = (typed: string, at: Command): Option | undefined => {
  const known = flagsOf(at).filter(({ hidden, long }) => !hidden && long !== undefined)
  const names = known.map(({ long }) => long!)
  const related = names.filter((name) => name.startsWith(`${typed}-`) || typed.startsWith(`${name}-`))
  const name = nearest(typed, names) ?? (related.length === 1 ? related[0] : undefined)
  return known.find(({ long }) => long === name)
}

const unknownFlag = (program: Command, argv: readonly string[], whole: string): SvcError => {
  const { at } = read(program, argv)
  const typed = whole.split('=')[0]!
  if (flagCalled(typed, at)) return usageError(`${typed} does not take a value`, helpOf(at))
  const near = flagNear(typed, at)
  const wrong = `${typed.slice(0, 60)} is not a flag of ${named(at)}`
  if (near === undefined) return usageError(wrong, helpOf(at))
  // Whoever types --otp 123456 gives the code itself, where --otp-file takes a file.
  if (looksSecret(typed) && near.flags.endsWith('<file>'))
    return usageError(
      `${wrong}; ${near.long} reads it from a file, or with - from standard input`,
      helpOf(at),
    )
  const corrected = near.long + whole.slice(typed.length)
  return usageError(
    `${wrong}; did you mean ${near.long}?`,
    typeInstead(program, argv.with(argv.indexOf(whole), corrected)),
  )
}

const tooManyArguments = (at: Command, message: string): SvcError => {
  const [, most, typed] = /Expected (\d+) arguments? but got (\d+)/.exec(message)!
  return usageError(
    most === '0'
      ? `${named(at)} takes no arguments, only flags`
      : `Too many arguments for ${named(at)}: it takes ${most}, not ${typed}; quote one that contains spaces`,
    helpOf(at),
  )
}

/** A refusal of the parser as a usage error. `program` is the whole command tree. */
export const asUsage = ({ code, message }: CommanderError, argv: string[], program: Command): SvcError => {
  const [, typed = ''] = /'([^]*)'/.exec(message) ?? []
  const { at, next } = read(program, argv)
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(program, argv, typed)
    case 'commander.unknownOption':
      return unknownFlag(program, argv, typed)
    case 'commander.help': {
      const names = at.createHelp().visibleCommands(at)
      return usageError(
        `"${named(at)}" requires a command: ${names.map((child) => child.name()).join(', ')}`,
        helpOf(at),
      )
    }
    case 'commander.optionMissingArgument':
      return usageError(`${typed.replace(/^-\w, /, '').split(' ')[0]} requires a value: ${typed}`, helpOf(at))
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
        ? unknownCommand(program, argv, argv[next])
        : tooManyArguments(at, message)
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
