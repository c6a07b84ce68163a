import type { Command, CommanderError, Option } from 'commander'
import { usageError, type SvcError } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import { listed } from '../../core/sentence.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { withoutSecret } from './command-line.ts'
import { afterOf, sameVerb, wordsOf } from './command-node.ts'

// Usage errors for what the parser refuses: they name the wrong word and a command to type instead.

/** Hints do not repeat longer lines. */
const maxLineLength = 200

const named = (command: Command): string => ['svc', ...wordsOf(command)].join(' ')

const childCalled = (at: Command, word: string): Command | undefined =>
  at.commands.find((child) => child.name() === word || child.aliases().includes(word))

/** The subcommand that was probably meant. */
const childNear = (at: Command, word: string): Command | undefined => {
  const near = nearest(
    word,
    at.commands.flatMap((child) => [child.name(), ...child.aliases()]),
  )
  return near === undefined ? undefined : childCalled(at, near)
}

/** The flags of a command and of `svc` itself. */
const flagsOf = (at: Command): Option[] => {
  const root = at.parent ? flagsOf(at.parent) : []
  return [...at.options, ...root]
}

/** The flag that was probably meant: `--limt` or `--org-id` for `--limit` and `--org`. */
const flagNear = (typed: string, at: Command): string | undefined => {
  const names = flagsOf(at).flatMap(({ hidden, long }) => (hidden || !long ? [] : [long]))
  return (
    nearest(typed, names) ??
    names.find((name) => name.startsWith(`${typed}-`) || typed.startsWith(`${name}-`))
  )
}

type Reading = {
  /** The command that the words select, after corrections. */
  at: Command
  /** The words and flags with corrections, without `svc`. */
  line: string[]
  /** The indexes of its arguments in `line`. */
  operands?: number[]
  /** The first word that was corrected, and its group. */
  corrected?: { word: string; group: Command } | undefined
  /** A word that is not a command. */
  stray?: string
}

/** Reads a command line and corrects likely typing errors. */
const read = (program: Command, argv: readonly string[]): Reading => {
  const line: string[] = []
  const operands: number[] = []
  let at = program
  let corrected: Reading['corrected']
  for (let i = 0; i < argv.length; i += 1) {
    const token = argv[i]!
    if (token === '--') return { at, line: [...line, ...argv.slice(i)], corrected }
    if (token.startsWith('-') && token !== '-') {
      const [typed = ''] = token.split('=')
      const known = flagsOf(at).find(({ long, short }) => typed === long || typed === short)
      const name = known ? typed : (flagNear(typed, at) ?? typed)
      const flag = known ?? flagsOf(at).find(({ long }) => long === name)
      line.push(name + token.slice(typed.length))
      const value = argv[i + 1]
      if (flag?.required && !token.includes('=') && value !== undefined) line.push(argv[(i += 1)]!)
    } else if (at.commands.length === 0) operands.push(line.push(token) - 1)
    else {
      const known = childCalled(at, token)
      const child = known ?? childNear(at, token)
      if (!child) return { at, line, corrected, stray: token }
      if (!known) corrected ??= { word: token, group: at }
      at = child
      line.push(child.name())
    }
  }
  return { at, line, operands, corrected }
}

/** `svc list users` for `svc user list`. */
const swapped = (argv: readonly string[]): readonly string[] => {
  const [verb, noun, ...rest] = argv
  return noun === undefined || noun.startsWith('-') ? argv : [noun, verb!, ...rest]
}

const typeInstead = ({ at, line, stray }: Reading): string => {
  if (stray !== undefined || at.commands.length > 0) return `${named(at)} --help`
  const whole = ['svc', ...line.map((word) => shellQuote(withoutSecret(word)))].join(' ')
  return whole.length > maxLineLength ? `${named(at)} --help` : whole
}

/** The first example in the help of a command. */
const exampleOf = (command: Command): string =>
  /^ {2}(svc .*)$/m.exec(afterOf(command))?.[1] ?? `${named(command)} --help`

const visibleIn = (group: Command): Command[] => group.createHelp().visibleCommands(group)

/** The command with this name if only one group has it: `svc user enroll` for `svc approve enroll`. */
const onlyCommandCalled = (program: Command, name: string): Command | undefined => {
  const found = visibleIn(program).flatMap((group) =>
    visibleIn(group).filter((child) => child.name() === name),
  )
  return found.length === 1 ? found[0] : undefined
}

const unknownCommand = (program: Command, argv: readonly string[], typed: string): SvcError => {
  let reading = read(program, argv)
  const turned = read(program, swapped(argv))
  if (reading.stray !== undefined && reading.at === program && turned.stray === undefined) reading = turned
  const group = reading === turned ? program : (reading.corrected?.group ?? reading.at)
  const wrong = `"${typed.slice(0, 60)}" is not a command of ${named(group)}`
  if (reading.stray === undefined)
    return usageError(`${wrong}; did you mean "${named(reading.at)}"?`, typeInstead(reading))
  const same = group.commands.filter((child) => sameVerb(child.name()).includes(typed))
  const elsewhere = same.length === 0 ? onlyCommandCalled(program, typed) : undefined
  if (elsewhere) return usageError(`${wrong}; did you mean "${named(elsewhere)}"?`, exampleOf(elsewhere))
  const meant = same.map((child) => `"${named(child)}"`).join(' or ')
  return usageError(meant === '' ? wrong : `${wrong}; did you mean ${meant}?`, typeInstead(reading))
}

const unknownFlag = (program: Command, argv: readonly string[], typed: string): SvcError => {
  const reading = read(program, argv)
  const near = flagNear(typed, reading.at)
  const wrong = `${typed.slice(0, 60)} is not a flag of ${named(reading.at)}`
  return near === undefined
    ? usageError(wrong, `${named(reading.at)} --help`)
    : usageError(`${wrong}; did you mean ${near}?`, typeInstead(reading))
}

/** The typed line with only the first `most` arguments; undefined if the surplus ones are not known. */
const withoutSurplus = (reading: Reading, most: number): string | undefined => {
  const { line, operands } = reading
  if (operands === undefined || !(operands.length > most)) return undefined
  const surplus = new Set(operands.slice(most))
  return typeInstead({ ...reading, line: line.filter((_, i) => !surplus.has(i)) })
}

/** A refusal of the parser as a usage error. `program` is the whole command tree. */
export const asUsage = ({ code, message }: CommanderError, argv: string[], program: Command): SvcError => {
  const [, typed = ''] = /'([^]*)'/.exec(message) ?? []
  const { at } = read(program, argv)
  switch (code) {
    case 'commander.unknownCommand':
      return unknownCommand(program, argv, typed)
    case 'commander.unknownOption':
      return unknownFlag(program, argv, typed.split('=')[0]!)
    case 'commander.help':
      return usageError(
        `"${named(at)}" requires a command: ${visibleIn(at)
          .map((child) => child.name())
          .join(', ')}`,
        `${named(at)} --help`,
      )
    case 'commander.optionMissingArgument':
      return usageError(
        `${typed.replace(/^-\w, /, '').split(' ')[0]} requires a value: ${typed}`,
        exampleOf(at),
      )
    case 'commander.missingArgument':
      return usageError(`Missing <${typed}>`, exampleOf(at))
    case 'commander.invalidArgument': {
      const argument = at.registeredArguments.find(({ argChoices }) => argChoices !== undefined)
      if (argument === undefined) break
      const value = message.slice(message.indexOf("'") + 1, message.indexOf("' is invalid for argument"))
      return usageError(
        `<${argument.name()}> must be ${listed(argument.argChoices!)}, not "${value.slice(0, 60)}"`,
        exampleOf(at),
      )
    }
    case 'commander.excessArguments': {
      // A group that is a command too, such as `svc mcp`, takes a wrong word for an argument.
      const { corrected, stray } = read(program, argv)
      const word = corrected?.word ?? stray
      if (word !== undefined) return unknownCommand(program, argv, word)
      const [, expected, got] = /Expected (\d+) arguments? but got (\d+)/.exec(message) ?? []
      return usageError(
        `Too many arguments for ${named(at)}: it takes ${expected ?? 'fewer'}, not ${got ?? 'so many'}`,
        withoutSurplus(read(program, argv), Number(expected)) ?? exampleOf(at),
      )
    }
  }
  return usageError(message.replace(/^error: /, '').replaceAll('\n', ' '), `${named(at)} --help`)
}
