import { posix } from 'node:path'
import type { Rule, RuleMatch, SubjectFields } from '../contract/rule-shape.ts'
import { foldedName, namesIn, onlyNamed } from '../core/folded-name.ts'
import { hasWildcard, matches } from '../core/wildcard.ts'
import { bareNameOf, nameOf, startsOthers } from './starters.ts'

/** What rules look at in a subject. */
export type Facts =
  | { type: 'text'; text: string }
  /** `hasVariables`: it gets variables that can change what it does, such as KUBECONFIG. */
  | { type: 'command'; argv: readonly string[]; cwd: string; executable: string; hasVariables: boolean }
  /** `operation`: the words of a command. */
  | { type: 'request'; operation: string }
  | { type: 'file'; file: string }
  | { type: 'tool_call'; server: string; tool: string; arguments: Readonly<Record<string, unknown>> }

/** In each type of subject, the fields that a rule can name. */
export const fieldsOfType = {
  text: ['text'],
  command: ['argv', 'cwd'],
  request: ['operation'],
  file: ['file'],
  tool_call: ['server', 'tool', 'arguments'],
} as const satisfies Record<RuleMatch['type'], readonly (keyof SubjectFields)[]>

const partsOf = (path: string): string[] =>
  posix
    .normalize(path)
    .split('/')
    .filter((part) => part !== '')

type Command = Extract<Facts, { type: 'command' }>

/** A command in the parts that are compared. `names`: what is typed, and what runs. */
type CommandParts = { names: string[]; argv: readonly string[]; cwd: string[] }

/** For a rule, also as Windows reads it: behind the last backslash, which ends a folder, and without `.exe`. */
const namesOf = ({ argv: [first = ''], executable }: Command, isException: boolean): string[] => {
  const paths = [first, executable]
  const onWindows = paths.map((path) => bareNameOf(path).replace(/\.exe$/i, ''))
  return [...paths.map(nameOf), ...(isException ? [] : onWindows)]
}

/** How facts are compared with the fields of a rule, or of an exception. */
type Reading = {
  facts: Facts
  command: CommandParts | undefined
  isException: boolean
  fold(text: string): string
  /** The names of the arguments of a tool call, by how they are folded. */
  names: ReadonlyMap<string, readonly string[]>
  /** Whether there is time for so much more. */
  affords(characters: number): boolean
}

/**
 * Characters of patterns and of a request that are compared for one decision, which takes milliseconds. A request that is too long
 * for all patterns counts as held by the rules that are left, and as none of their exceptions.
 */
const mostCompared = 4_000_000

type Comparison = { left: number }

const lower = (text: string): string => text.toLowerCase()
/** For what is asked in ASCII: only a pattern can have other letters. */
const ofAscii = (text: string): string => (/[^ -~]/.test(text) ? foldedName(text) : text.toLowerCase())
const same = (text: string): string => text

const readingOf = (
  facts: Facts,
  {
    isException,
    fold: change,
    names,
    left,
  }: Pick<Reading, 'isException' | 'fold' | 'names'> & { left: Comparison },
): Reading => {
  const folded = new Map<string, string>()
  const fold = (text: string): string => {
    const known = folded.get(text) ?? change(text)
    folded.set(text, known)
    return known
  }
  const command =
    facts.type === 'command'
      ? {
          names: namesOf(facts, isException).map(fold),
          argv: facts.argv.map(fold),
          cwd: partsOf(facts.cwd).map(fold),
        }
      : undefined
  return {
    facts,
    command,
    isException,
    fold,
    names,
    affords: (characters) => (left.left -= characters) >= 0,
  }
}

/** A comparison takes as long as so many characters, however short it is. */
const perComparison = 64

const fits = (pattern: string, text: string, reading: Reading): boolean =>
  reading.affords(perComparison + pattern.length + text.length)
    ? matches(pattern, text)
    : !reading.isException

/**
 * A rule ignores case and how letters are composed, because programs, tools and file systems may; composing can make one
 * character of two, so each way counts. An exception ignores neither, because they may not.
 */
const readingsOfRule = (facts: Facts, shared: Pick<Reading, 'names'> & { left: Comparison }): Reading[] => {
  const isPlain = /^[ -~]*$/.test(JSON.stringify(facts))
  return (isPlain ? [ofAscii] : [lower, foldedName]).map((fold) =>
    readingOf(facts, { ...shared, isException: false, fold }),
  )
}

/** `**` stands for any number of parts. */
const matchesParts = (
  pattern: readonly string[],
  count: number,
  isPart: (pattern: string, at: number) => boolean,
  reading: Reading,
): boolean => {
  if (!reading.affords(count)) return !reading.isException
  // Whether the pattern up to here matches the first `n` parts.
  let row = Array.from({ length: count + 1 }, (_, n) => n === 0)
  for (const one of pattern) {
    if (!reading.affords(count)) return !reading.isException
    const next = [one === '**' && row[0]!]
    for (let n = 1; n <= count; n++)
      next.push(one === '**' ? row[n]! || next[n - 1]! : row[n - 1]! && isPart(one, n - 1))
    if (!next.includes(true)) return false
    row = next
  }
  return row[count]!
}

/** The first word is compared by its name. An exception must fit what is typed and what runs; a rule, one of them. */
const isProgram = (pattern: string, reading: Reading): boolean => {
  const { names } = reading.command!
  return reading.isException
    ? names.every((name) => fits(pattern, name, reading))
    : names.some((name) => fits(pattern, name, reading))
}

const matchesArgv = (pattern: readonly string[], reading: Reading): boolean => {
  const { fold } = reading
  const { argv } = reading.command!
  const [program = ''] = pattern
  // Most rules are about another program.
  if (program !== '**' && !isProgram(fold(program), reading)) return false
  return matchesParts(
    pattern.map(fold),
    argv.length,
    (one, at) => (at > 0 ? fits(one, argv[at]!, reading) : isProgram(one, reading)),
    reading,
  )
}

const matchesPath = (pattern: string, reading: Reading): boolean => {
  const { cwd } = reading.command!
  const isPart = (one: string, at: number): boolean => fits(one, cwd[at]!, reading)
  return matchesParts(partsOf(reading.fold(pattern)), cwd.length, isPart, reading)
}

const wordsOf = (operation: string): string[] => operation.split(' ').filter((word) => word !== '')

/** `user` holds `user delete`, and so does `user delete`. */
export const holdsOperation = (listed: string, operation: string): boolean => {
  const words = wordsOf(operation)
  return wordsOf(listed).every((word, at) => word === words[at])
}

const some = (patterns: readonly string[] | undefined, isMatch: (pattern: string) => boolean): boolean =>
  patterns === undefined || patterns.some(isMatch)

const matchesText = (patterns: readonly string[] | undefined, text: string, reading: Reading): boolean =>
  some(patterns, (one) => fits(reading.fold(one), reading.fold(text), reading))

/**
 * An argument that is missing or is no text matches a rule, and never an exception. So does one that is spelled otherwise or
 * given twice, because a server may take either for it.
 */
const matchesArguments = (
  patterns: Readonly<Record<string, readonly string[]>>,
  values: Readonly<Record<string, unknown>>,
  reading: Reading,
): boolean =>
  Object.entries(patterns).every(([name, texts]) => {
    const value = onlyNamed(values, name, reading.names)
    return typeof value === 'string' ? matchesText(texts, value, reading) : !reading.isException
  })

/** Whether all fields fit. The fields are of the type of the facts. */
const matchesFields = (fields: SubjectFields, reading: Reading): boolean => {
  const { facts } = reading
  if (facts.type === 'text') return matchesText(fields.text, facts.text, reading)
  if (facts.type === 'file') return matchesText(fields.file, facts.file, reading)
  if (facts.type === 'request') return some(fields.operation, (one) => holdsOperation(one, facts.operation))
  if (facts.type === 'command')
    return (
      (fields.argv === undefined || matchesArgv(fields.argv, reading)) &&
      some(fields.cwd, (one) => matchesPath(one, reading))
    )
  return (
    matchesText(fields.server, facts.server, reading) &&
    matchesText(fields.tool, facts.tool, reading) &&
    (fields.arguments === undefined || matchesArguments(fields.arguments, facts.arguments, reading))
  )
}

const namesProgram = ({ argv: [first = '*'] = [] }: SubjectFields): boolean => !hasWildcard(first)

/**
 * Finds the rules that hold a request. `keys`: the requesting key and those that created it, by their first secrets; undefined
 * if they are not known, which counts as a match. A command that starts others can do what any rule is about, so it matches in
 * any folder, and an exception for it must name it: one for a folder would let it change the folder. No exception is for a
 * command with variables, which can do what its words do not say.
 */
export const matcherOf = (facts: Facts) => {
  const names = namesIn(facts.type === 'tool_call' ? facts.arguments : {})
  const shared = { names, left: { left: mostCompared } }
  const ofRule = readingsOfRule(facts, shared)
  const ofException = readingOf(facts, { ...shared, isException: true, fold: same })
  const starts = facts.type === 'command' && startsOthers(facts)
  return (
    { match, except = [] }: Pick<Rule, 'match' | 'except'>,
    keys: readonly string[] | undefined,
  ): boolean => {
    if (match.type !== facts.type) return false
    if (match.key && keys && !match.key.some((key) => keys.includes(key))) return false
    const isStarter = starts && match.shells === undefined
    if (!isStarter && !ofRule.some((reading) => matchesFields(match, reading))) return false
    if (facts.type === 'command' && facts.hasVariables) return true
    return !except.some(
      (fields) => (!isStarter || namesProgram(fields)) && matchesFields(fields, ofException),
    )
  }
}
