import { shellQuote } from '../../src/core/shell-quote.ts'
import { commandWords } from '../command-words.ts'
import { mentionsIn, refusalOf } from './printed-commands.ts'

// Types the hint of a mistake as a person would, and that of what it leads to. Returns what is wrong with the hints.

export type Ended = { exit: number; out: string; err: string }
export type Run = (argv: string[], stdin: string) => Promise<Ended>
export type Mistake = {
  argv: string[]
  /** The typed words that a hint may leave out. */
  wrong?: readonly string[]
  /** Must not appear in any output. */
  secret?: string | undefined
  /** Whether a refusal of the service is followed as well as a mistake of the person. */
  far?: boolean
}

/** They run until they are stopped, or install something. */
const notRun = new Set(['serve', 'demo', 'mcp', 'top', 'hook', 'upgrade'])
const mostSteps = 4

/** The message and the hint of an error, in prose or as one line of JSON. */
const said = ({ err }: Ended): { message: string; hint?: string | undefined } => {
  if (err.startsWith('{')) return JSON.parse(err.split('\n')[0]!)
  return {
    message: /^svc: (.*)$/m.exec(err)?.[1] ?? '',
    hint: /^hint: ([^]*?)(?:\nrequest id: .*)?\n*$/m.exec(err)?.[1],
  }
}

const withoutFlag = (argv: readonly string[], flag: string): string[] => {
  const at = argv.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at < 0) return [...argv]
  const takes = !argv[at]!.includes('=') && argv[at + 1] !== undefined && !argv[at + 1]!.startsWith('-')
  return argv.toSpliced(at, takes ? 2 : 1)
}

/** Flags go before `--`. */
const withWords = (argv: readonly string[], words: readonly string[]): string[] => {
  const end = argv.indexOf('--')
  return argv.toSpliced(end < 0 ? argv.length : end, 0, ...words)
}

/** What a hint tells a person to type who typed `argv`; undefined if it names no command. */
const linesOf = (hint: string, argv: readonly string[]): string[][] | undefined => {
  if (hint.startsWith('svc ')) {
    const [all] = /^svc (?:'[^']*'|"[^"]*"|[^'"])*/.exec(hint)!
    const ends = /^(.*?)(?: (?:creates|saves|shows|lists|starts|overrides|makes)\b.*)$/.exec(all)?.[1] ?? all
    return ends.split(/; (?=svc )/).map((line) => commandWords(line.split(/; /)[0]!).slice(1))
  }
  const again = /^Type the same command(?: with (.*?))?(?:(?: and)? without (.*))?$/.exec(hint)
  if (again) {
    const [, plus = '', minus] = again
    const left = minus === undefined ? argv : minus.split(' and ').reduce(withoutFlag, [...argv])
    return [withWords(left, commandWords(plus))]
  }
  const removed = /^Remove (?:one )?(--?[\w-]+)(?: or --?[\w-]+)?$/.exec(hint)
  if (removed) return [withoutFlag(argv, removed[1]!)]
  const flag = /^(--[\w-]+) (\S+)$/.exec(hint)
  return flag ? [withWords(withoutFlag(argv, flag[1]!), commandWords(hint))] : undefined
}

/** A redirection as a shell carries it out: standard input has one line. */
const redirected = (argv: readonly string[]): string[] =>
  argv.filter((word, i) => !/^[<>]$/.test(word) && !/^[<>]$/.test(argv[i - 1] ?? ''))

const usage = 2
/** What a line that svc suggests is never refused for. A file of an example may not exist, and a terminal may be missing. */
const untypable =
  / is not a (?:command|flag) |^Too many| takes? no | requires a value| can be given only once| is not valid/

export const hintProblems = async (mistake: Mistake, run: Run): Promise<string[]> => {
  const { argv, wrong = [], secret, far = false } = mistake
  const problems: string[] = []
  const found = (what: string, line: readonly string[]): void =>
    void problems.push(`${what}: svc ${line.map(shellQuote).join(' ')}`)
  const follow = async (typed: string[], before: readonly string[], step: number): Promise<void> => {
    const ended = await run(redirected(typed), 'svc_op_1a2b3c4d_key\n')
    const { message, hint } = said(ended)
    if (secret !== undefined && `${ended.out}${ended.err}`.includes(secret)) found('repeats a secret', typed)
    if (ended.exit === 0) return step === 0 ? found('is no mistake', typed) : undefined
    const isUsage = ended.exit % 100 === usage
    if (before.includes(message) && isUsage) return found(`fails again with "${message}"`, typed)
    if (step > 0 && isUsage && untypable.test(message)) return found(`cannot be typed, "${message}"`, typed)
    if (step > mostSteps) return found('leads to a circle', typed)
    if (hint === undefined || (step > 0 && !isUsage && !far)) return undefined
    if (hint.trim() === '' || /(?:\bwith|\bor|[=:,])$| <[\w-]+>/.test(hint))
      found(`is given an incomplete hint "${hint}"`, typed)
    const lines = linesOf(hint, typed)
    if (step === 0 && lines && !hint.endsWith(' --help')) {
      const kept = lines.flat()
      const isKept = (word: string): boolean =>
        kept.some((one) => one.includes(word)) || word.split(',').every((part) => kept.includes(part))
      const dropped = argv.filter((word) => word !== '--' && !wrong.includes(word) && !isKept(word))
      if (dropped.length > 0) found(`loses ${dropped.join(' ')} in "${hint}"`, argv)
    }
    const named = mentionsIn(hint)
    for (const mention of lines ? [] : named) {
      const refusal = await refusalOf(mention)
      if (refusal !== undefined) found(`is given "${mention.command}", ${refusal}`, typed)
    }
    // A sentence may go on after a command; what it ends with is typed.
    const last = named.at(-1)
    const isLast = last !== undefined && hint.endsWith(last.command) && !/ shows? /.test(last.command)
    const next = lines ?? (isLast ? [last.words] : [])
    for (const line of next) if (!notRun.has(line[0]!)) await follow(line, [...before, message], step + 1)
  }
  await follow(argv, [], 0)
  return problems
}
