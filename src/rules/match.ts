import { posix } from 'node:path'
import type { Rule, RuleMatch, SubjectFields } from '../contract/rule-shape.ts'
import { matches } from '../core/wildcard.ts'
import { startsOthers } from './starters.ts'

/** What rules look at in a subject. */
export type Facts =
  | { type: 'text'; text: string }
  | { type: 'command'; argv: readonly string[]; cwd: string; executable: string }
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

/** `**` stands for any number of parts. Takes at most the product of both lengths, so that no pattern can slow it down. */
const matchesParts = (
  pattern: readonly string[],
  parts: readonly string[],
  isPart: (pattern: string, at: number) => boolean,
): boolean => {
  // Whether the pattern up to here matches the first `n` parts.
  let row = [true, ...parts.map(() => false)]
  for (const one of pattern) {
    const next = [one === '**' && row[0]!]
    for (let n = 1; n <= parts.length; n++)
      next.push(one === '**' ? row[n]! || next[n - 1]! : row[n - 1]! && isPart(one, n - 1))
    row = next
  }
  return row[parts.length]!
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The first word is compared by its name. An exception must fit what is typed and what runs; a rule, one of them. */
const matchesArgv = (
  pattern: readonly string[],
  { argv, executable }: Extract<Facts, { type: 'command' }>,
  isException: boolean,
): boolean => {
  const first = [nameOf(argv[0] ?? ''), nameOf(executable)]
  return matchesParts(pattern, argv, (one, at) => {
    if (at > 0) return matches(one, argv[at]!)
    return isException ? first.every((name) => matches(one, name)) : first.some((name) => matches(one, name))
  })
}

const partsOf = (path: string): string[] =>
  posix
    .normalize(path)
    .split('/')
    .filter((part) => part !== '')

const matchesPath = (pattern: string, path: string): boolean => {
  const parts = partsOf(path)
  return matchesParts(partsOf(pattern), parts, (one, at) => matches(one, parts[at]!))
}

const wordsOf = (operation: string): string[] => operation.split(' ').filter((word) => word !== '')

/** `user` holds `user delete`, and so does `user delete`. */
const holdsOperation = (listed: string, operation: string): boolean => {
  const words = wordsOf(operation)
  return wordsOf(listed).every((word, at) => word === words[at])
}

/** An argument that is missing or is no text matches a rule, and never an exception. */
const matchesArguments = (
  patterns: Readonly<Record<string, readonly string[]>>,
  values: Readonly<Record<string, unknown>>,
  isException: boolean,
): boolean =>
  Object.entries(patterns).every(([name, texts]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return typeof value === 'string' ? texts.some((one) => matches(one, value)) : !isException
  })

const some = (patterns: readonly string[] | undefined, isMatch: (pattern: string) => boolean): boolean =>
  patterns === undefined || patterns.some(isMatch)

/** Whether all fields fit. The fields are of the type of the facts. */
const matchesFields = (fields: SubjectFields, facts: Facts, isException = false): boolean => {
  if (facts.type === 'text') return some(fields.text, (one) => matches(one, facts.text))
  if (facts.type === 'file') return some(fields.file, (one) => matches(one, facts.file))
  if (facts.type === 'request') return some(fields.operation, (one) => holdsOperation(one, facts.operation))
  if (facts.type === 'command')
    return (
      (fields.argv === undefined || matchesArgv(fields.argv, facts, isException)) &&
      some(fields.cwd, (one) => matchesPath(one, facts.cwd))
    )
  return (
    some(fields.server, (one) => matches(one, facts.server)) &&
    some(fields.tool, (one) => matches(one, facts.tool)) &&
    (fields.arguments === undefined || matchesArguments(fields.arguments, facts.arguments, isException))
  )
}

/**
 * Whether a rule holds a request. `keys`: the requesting key and those that created it, by their first secrets; undefined if
 * they are not known, which counts as a match. A command that starts others can do what any rule is about, so it matches in
 * any folder.
 */
export const holds = (
  { match, except = [] }: Pick<Rule, 'match' | 'except'>,
  facts: Facts,
  keys: readonly string[] | undefined,
): boolean => {
  if (match.type !== facts.type) return false
  if (match.key && keys && !match.key.some((key) => keys.includes(key))) return false
  const isStarter = facts.type === 'command' && match.shells === undefined && startsOthers(facts)
  if (!isStarter && !matchesFields(match, facts)) return false
  return !except.some((fields) => matchesFields(fields, facts, true))
}
