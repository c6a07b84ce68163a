import type { Command, Option } from 'commander'
import { nearest } from '../../core/nearest.ts'
import { looksLikePath } from '../terminal/input-file.ts'
import { looksSecret } from './command-line.ts'
import { sameVerb } from './command-node.ts'

// Reads a command line that the parser refused, and corrects likely typing errors.

export const childCalled = (at: Command, word: string): Command | undefined =>
  at.commands.find((child) => child.name() === word)

/** The subcommand that was probably meant. */
const childNear = (at: Command, word: string): Command | undefined => {
  const same = at.commands.filter((child) => sameVerb(child.name()).includes(word))
  // `user delete` erases and `user remove` does not: `user rm` must not choose between them.
  if (same.length > 0) return same.length === 1 ? same[0] : undefined
  const near = nearest(
    word,
    at.commands.map((child) => child.name()),
  )
  return near === undefined ? undefined : childCalled(at, near)
}

/** The flags of a command and of `svc` itself. */
const flagsOf = (at: Command): Option[] => {
  const root = at.parent ? flagsOf(at.parent) : []
  return [...at.options, ...root]
}

export const flagCalled = (typed: string, at: Command): Option | undefined =>
  flagsOf(at).find(({ long, short }) => typed === long || typed === short)

/** The flag that was probably meant: `--limt`, `--org-id` or `--otp` for `--limit`, `--org` or `--otp-file`. */
export const flagNear = (typed: string, at: Command): Option | undefined => {
  const known = flagsOf(at).filter(({ hidden, long }) => !hidden && long !== undefined)
  const names = known.map(({ long }) => long!)
  const longer = names.filter((name) => name.startsWith(`${typed}-`))
  const name =
    nearest(typed, names) ??
    (longer.length === 1 ? longer[0] : names.find((one) => [`${one}-id`, `${one}-name`].includes(typed)))
  return known.find(({ long }) => long === name)
}

export const takesFile = ({ flags }: Option): boolean => flags.endsWith('<file>')

export type Token = {
  kind: 'word' | 'flag' | 'value' | 'operand' | 'rest'
  text: string
  /** The flag, if it is known after corrections; also that of a value. */
  option?: Option | undefined
  /** The secret that it contains must not be repeated. */
  secret?: boolean
}

export type Reading = {
  /** The command that the words select, after corrections. */
  at: Command
  tokens: Token[]
  /** The first word that was corrected, and its group. */
  corrected?: { word: string; group: Command } | undefined
  /** A word that is not a command. */
  stray?: string
}

/** The tokens of a flag and its value. */
const readFlag = (at: Command, token: string, next: string | undefined): Token[] => {
  const [typed = ''] = token.split('=')
  const known = flagCalled(typed, at)
  const option = known ?? flagNear(typed, at)
  const inline = token.length > typed.length
  // Whoever types --otp 123456 gives the code itself, where --otp-file takes a file.
  const isFile = /-[file]{3,5}$/.test(typed) && looksLikePath(inline ? token.slice(typed.length + 1) : next)
  const secret = !known && option !== undefined && takesFile(option) && looksSecret(typed) && !isFile
  const name = known ? typed : (option?.long ?? typed)
  const value = inline ? token.slice(typed.length + 1) : next
  const takes = option?.required === true && value !== undefined
  if (!takes)
    return [{ kind: 'flag', text: name + token.slice(typed.length), option, secret: inline && !known }]
  if (inline && !secret) return [{ kind: 'flag', text: `${name}=${value}`, option }]
  return [
    { kind: 'flag', text: name, option },
    { kind: 'value', text: value, option, secret },
  ]
}

/** Reads a command line and corrects likely typing errors. */
export const read = (program: Command, argv: readonly string[]): Reading => {
  const tokens: Token[] = []
  let at = program
  let corrected: Reading['corrected']
  for (let i = 0; i < argv.length; i += 1) {
    const token = argv[i]!
    if (token === '--') {
      const rest = argv.slice(i).map((text): Token => ({ kind: 'rest', text }))
      return { at, tokens: [...tokens, ...rest], corrected }
    }
    if (token.startsWith('-') && token !== '-') {
      const found = readFlag(at, token, argv[i + 1])
      tokens.push(...found)
      if (found.length === 2 && !token.includes('=')) i += 1
    } else if (at.commands.length === 0) tokens.push({ kind: 'operand', text: token })
    else {
      const known = childCalled(at, token)
      const child = known ?? childNear(at, token)
      if (!child) return { at, tokens, corrected, stray: token }
      if (!known) corrected ??= { word: token, group: at }
      at = child
      tokens.push({ kind: 'word', text: child.name() })
    }
  }
  return { at, tokens, corrected }
}

/** `svc list users` for `svc user list`. */
export const swapped = (argv: readonly string[]): readonly string[] => {
  const [verb, noun, ...rest] = argv
  return noun === undefined || noun.startsWith('-') ? argv : [noun, verb!, ...rest]
}

export const operandsOf = ({ tokens }: Reading): Token[] => tokens.filter(({ kind }) => kind === 'operand')

/** The reading without an argument that a command does not accept. */
export const withoutOperand = (reading: Reading, text: string): Reading => ({
  ...reading,
  tokens: reading.tokens.filter((token) => token.kind !== 'operand' || token.text !== text),
})
