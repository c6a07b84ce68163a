import type { Command, Option } from 'commander'
import { shellQuote } from '../../core/shell-quote.ts'
import { withoutKeys } from '../terminal/mask.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { withoutSecret } from './command-line.ts'
import { afterOf, needOf, wordsOf } from './command-node.ts'
import { operandsOf, read, takesFile, type Reading, type Token } from './reading.ts'
import { canRepeat } from './watch-flags.ts'

// The command that a hint suggests. It parses, and it contains everything that was typed; otherwise the hint is the help.

/** Hints do not repeat longer lines. */
const maxLineLength = 200

export const named = (command: Command): string => ['svc', ...wordsOf(command)].join(' ')

export const helpOf = (command: Command): string => `${named(command)} --help`

/** The first example in the help of a command. */
export const exampleOf = (command: Command): string =>
  /^ {2}(svc .*)$/m.exec(afterOf(command))?.[1] ?? helpOf(command)

/** The words of an example after `svc`, up to a redirection. */
const wordsIn = (example: string): string[] =>
  [...example.split(/ [<>|#] /)[0]!.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)]
    .map(([, double, single, plain]) => double ?? single ?? plain!)
    .slice(1)

/** Neither a key, a secret field nor a phone number may be repeated. */
export const canBePrinted = (text: string): boolean =>
  withoutSecret(text) === text && withoutKeys(text) === text && withoutPhones(text) === text

const isTyped = (tokens: readonly Token[], option: Option): boolean =>
  tokens.some((token) => token.kind === 'flag' && token.option === option)

/** Whether the parser accepts the flags, with their values. */
const flagsParse = (tokens: readonly Token[]): boolean => {
  const seen = new Set<string>()
  return tokens.every(({ kind, option, text }, i) => {
    if (kind !== 'flag') return true
    if (!option) return false
    const key = option.attributeName()
    if (seen.has(key) && !canRepeat(option)) return false
    seen.add(key)
    const inline = text.includes('=')
    return option.required ? inline || tokens[i + 1]?.kind === 'value' : option.optional || !inline
  })
}

/** How many arguments a command requires and how many it takes. */
export const arity = (at: Command): { least: number; most: number } => ({
  least: Math.max(
    (/^[^[]*/.exec(at.usage())![0].match(/<[\w-]+>/g) ?? []).length,
    at.registeredArguments.filter(({ required }) => required).length,
  ),
  most: at.registeredArguments.some(({ variadic }) => variadic) ? Infinity : at.registeredArguments.length,
})

/** The tokens with a way to give each secret that was typed: on a terminal svc asks for it, elsewhere it is piped in. */
const withoutTypedSecrets = (tokens: readonly Token[], asks: boolean): Token[] =>
  tokens.flatMap((token, i): Token[] => {
    const { option, secret } = token
    const value = secret ? token : tokens[i + 1]
    if (!value?.secret || !option || value.option !== option) return [token]
    if (asks && needOf(option)?.asked) return []
    return token === value ? [{ kind: 'value', text: '-', option }] : [token]
  })

/** The required flags that are missing, with the values of the example in the help. Undefined if it lacks one. */
const missingFlags = (program: Command, { at, tokens }: Reading, asks: boolean): Token[] | undefined => {
  const example = read(program, wordsIn(exampleOf(at))).tokens
  const missing = at.options.filter((option) => {
    const need = needOf(option)
    return need !== undefined && need.note === undefined && !(asks && need.asked) && !isTyped(tokens, option)
  })
  const found = missing.map((option): Token[] => {
    const i = example.findIndex((token) => token.kind === 'flag' && token.option === option)
    const value = takesFile(option) ? '-' : example[i + 1]?.text
    if (i < 0 || value === undefined) return []
    return [
      { kind: 'flag', text: option.long!, option },
      { kind: 'value', text: value, option },
    ]
  })
  return found.some((flag) => flag.length === 0) ? undefined : found.flat()
}

export type Suggesting = {
  program: Command
  /** Whether svc can ask for what is missing. */
  asks: boolean
}

/** The corrected line if it can be typed and repeats nothing secret; undefined otherwise. */
export const correctedLine = (reading: Reading, { program, asks }: Suggesting): string | undefined => {
  const { at, stray } = reading
  if (stray !== undefined || at.commands.length > 0) return undefined
  const tokens = withoutTypedSecrets(reading.tokens, asks)
  const operands = operandsOf(reading).length
  const { least, most } = arity(at)
  const missing = missingFlags(program, { ...reading, tokens }, asks)
  const hasRest = tokens.some(({ kind }) => kind === 'rest')
  if (!missing || !flagsParse(tokens) || operands > most || (operands < least && !hasRest && !asks))
    return undefined
  if (!tokens.every(({ text }) => canBePrinted(text))) return undefined
  const cut = tokens.findIndex(({ kind }) => kind === 'rest')
  const [before, rest] = cut < 0 ? [tokens, []] : [tokens.slice(0, cut), tokens.slice(cut)]
  const all = [...before, ...missing, ...rest]
  if (all.filter(({ kind, text }) => kind === 'value' && text === '-').length > 1) return undefined
  const line = ['svc', ...all.map(({ text }) => shellQuote(text))].join(' ')
  return line.length > maxLineLength ? undefined : line
}

/** The corrected line, or else the help of its command. */
export const typeInstead = (reading: Reading, how: Suggesting): string =>
  correctedLine(reading, how) ?? helpOf(reading.at)

/**
 * The typed line with the missing arguments and values of the example in the help. The example itself only if nothing but the
 * command was typed: otherwise it would leave out what was typed.
 */
export const withExamples = (reading: Reading, how: Suggesting): string => {
  const { at, tokens } = reading
  const example = exampleOf(at)
  if (tokens.every(({ kind }) => kind === 'word')) return example
  const shell = read(how.program, wordsIn(example))
  const filled = tokens.flatMap((token, i): Token[] => {
    const { option } = token
    if (token.kind !== 'flag' || !option?.required || token.text.includes('=')) return [token]
    if (tokens[i + 1]?.kind === 'value') return [token]
    const same = shell.tokens.findIndex((one) => one.kind === 'flag' && one.option === option)
    return same < 0 ? [token] : [token, shell.tokens[same + 1]!]
  })
  const last = filled.findLastIndex(({ kind }) => kind === 'word' || kind === 'operand') + 1
  const typed = operandsOf(reading).length
  const more = operandsOf(shell).slice(typed, Math.max(typed, arity(at).least))
  return typeInstead({ ...reading, tokens: filled.toSpliced(last, 0, ...more) }, how)
}
