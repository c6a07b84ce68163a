import type { Command } from 'commander'
import { SvcError } from '../../core/errors.ts'
import { looksSecret } from '../../core/secret-name.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import type { Again, Context } from '../context/context.ts'
import { typedOrg } from '../context/organization.ts'
import type { Globals } from '../terminal/io.ts'
import { withoutPhones } from '../terminal/mask-prose.ts'
import { wordsOf } from './command-node.ts'

// A command as one line, for the person who approves it. It contains no secret.

/** A body with `***` instead of values whose field looks secret, at any depth. */
export const withoutSecrets = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (name, value: unknown) => (looksSecret(name) ? '***' : value))

/** `name=value` of -f and -F without secret values, even inside JSON. */
export const withoutSecret = (text: string): string => {
  const [name, value] = [text.slice(0, Math.max(0, text.indexOf('='))), text.slice(text.indexOf('=') + 1)]
  if (looksSecret(name)) return `${name}=***`
  if (!/^[[{]/.test(value)) return text
  try {
    const body: unknown = JSON.parse(value)
    const shown = JSON.stringify(withoutSecrets(body))
    return shown === JSON.stringify(body) ? text : text.slice(0, text.length - value.length) + shown
  } catch {
    return text
  }
}

type Spelling = {
  /** Flags to leave out: `--cursor`. */
  without: readonly string[]
  /** Flags whose short form was typed. */
  short?: readonly string[]
  spell(flag: string, text: string): [flag: string, text: string]
}

/** The typed flags of a command. */
const typedFlags = (command: Command, { without, short = [], spell }: Spelling): string[] =>
  command.options.flatMap((option) => {
    const key = option.attributeName()
    const long = option.long ?? option.short!
    if (command.getOptionValueSource(key) !== 'cli' || without.includes(long)) return []
    const flag = option.short && short.includes(option.short) ? option.short : long
    const value: unknown = command.getOptionValue(key)
    if (typeof value === 'boolean') return value === option.negate ? [] : [flag]
    return [value].flat().flatMap((one) => {
      const [name, text] = spell(flag, String(one))
      return [name, shellQuote(text)]
    })
  })

/** The command line as typed: `svc import users.csv --org acme`. Answers to prompts are not in it. */
export const typedLine = (command: Command): string => {
  const without = ['--yes', '--confirm']
  const flags = typedFlags(command, { without, spell: (flag, text) => [flag, withoutSecret(text)] })
  return ['svc', ...wordsOf(command), ...command.args.map(shellQuote), ...flags].join(' ')
}

/**
 * The command that was typed in `argv` with global flags and with changes, to run it again. Quoted for a shell and
 * without secrets.
 */
export const typedAgain = (
  command: Command,
  argv: readonly string[],
  change: Again = {},
  { reveal }: Globals = {},
): string => {
  const line = wholeAgain(command, argv, change)
  const typed = wholeAgain(command, argv, { ...change, plus: [] })
  const hasSecret = argv.some((word) => withoutSecret(word) !== word)
  if (!hasSecret && (reveal || withoutPhones(typed) === typed)) return line
  // A masked number or a hidden secret could not be typed.
  const { without = [], plus = [], args } = change
  const changes = [
    ...(args ? [`with ${args.map(shellQuote).join(' ')}`] : []),
    ...(plus.length > 0 ? [`with ${plus.map(shellQuote).join(' ')}`] : []),
    ...(plus.length === 0 && without.length > 0 ? [`without ${without.join(' and ')}`] : []),
  ]
  return `Type the same command ${changes.join(' and ')}`
}

const wholeAgain = (command: Command, argv: readonly string[], change: Again): string => {
  const { without = [], args = command.args, plus = [] } = change
  const spelling: Spelling = {
    without: [...without, ...plus],
    short: argv,
    spell: (flag, text) => [flag, text],
  }
  const flags = (at: Command | null): string[] =>
    at ? [...typedFlags(at, spelling), ...flags(at.parent)] : []
  const words = args.map(shellQuote)
  const after = args.some((word) => word.startsWith('-') && word !== '-')
  return [
    'svc',
    ...wordsOf(command),
    ...(after ? [] : words),
    ...flags(command),
    ...plus.map(shellQuote),
    ...(after ? ['--', ...words] : []),
  ].join(' ')
}

/** Flags to append to another command, so that it uses the same service and key. */
export const sameService = ({ profile, baseUrl, keyFile, cacert }: Globals): string =>
  Object.entries({ '--profile': profile, '--base-url': baseUrl, '--key-file': keyFile, '--cacert': cacert })
    .flatMap(([flag, value]) => (value === undefined ? [] : [` ${flag} ${shellQuote(value)}`]))
    .join('')

/** An error whose hint names the organization as it was typed. The service only knows its id. */
export const withTypedOrg = (error: unknown, context: Context): unknown =>
  error instanceof SvcError && error.hint
    ? error.with({
        hint: error.hint.replace(
          /--org (\d+)/g,
          (_, id) => `--org ${shellQuote(typedOrg(Number(id), context))}`,
        ),
      })
    : error
