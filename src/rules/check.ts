import { repeatedForm, repeatedLine } from '../contract/approvers.ts'
import type { Operation } from '../contract/operation.ts'
import type { Rule, SubjectFields } from '../contract/rule-shape.ts'
import { type OperationId, table } from '../contract/table.ts'
import { nearest } from '../core/nearest.ts'
import { matches } from '../core/wildcard.ts'
import { fieldsOfType } from './match.ts'

/** What is wrong with a rule; `field` is its path in the rule. */
export type RuleProblem = { field: string; message: string }

/** Reactions to an incident never wait for an approval. */
const reactions = new Set<OperationId>(['revokeDevice', 'refuseDevice', 'revokeKey'])

/** An organization that they make has no rules yet. */
const makers = new Set<OperationId>(['createOrganization', 'onboardOrganization'])

/** Whether a rule can hold a call. Requests and decisions cannot wait for an approval either, and reads change nothing. */
export const isHoldable = (id: OperationId): boolean => {
  const { effect, open, session, scope = [] }: Operation = table[id]
  const asks = scope === 'ask' || scope.includes('ask')
  return effect !== 'read' && !open && !session && !asks && !reactions.has(id) && !makers.has(id)
}

/** The commands that a rule can hold. */
export const commands = (Object.keys(table) as OperationId[]).filter(isHoldable).map((id) => table[id].cli)

/** The commands of a group that a rule for the group holds, if they are fewer than those that it never holds. */
export const fewHeld = (group: string): string[] | undefined => {
  const changing = (Object.keys(table) as OperationId[]).filter((id) => {
    const { cli, effect, hidden }: Operation = table[id]
    return cli.startsWith(`${group} `) && effect !== 'read' && !hidden
  })
  const held = changing.filter(isHoldable)
  return held.length < changing.length - held.length ? held.map((id) => table[id].cli) : undefined
}

const suggestions = [...new Set(commands.flatMap((cli) => [cli, cli.split(' ')[0]!]))]

/** Why no rule can hold a command that exists. */
const reasonAgainst = (words: string): string | undefined => {
  if (words === 'user import' || words === 'apply')
    return 'a rule holds what it does: name commands such as user create'
  const id = (Object.keys(table) as OperationId[]).find((one) => table[one].cli === words)
  if (id === undefined) return undefined
  if (reactions.has(id)) return 'a reaction to an incident never waits for an approval'
  if (makers.has(id)) return 'the organization that it makes has no rules yet'
  const { effect, scope }: Operation = table[id]
  if (effect === 'read') return 'it changes nothing'
  return scope?.includes('ask') ? 'it asks for an approval itself' : 'nobody needs a key for it'
}

const operationProblem = (listed: string): string | undefined => {
  if (commands.some((cli) => cli === listed || cli.startsWith(`${listed} `))) return undefined
  const words = listed.replace(/^svc /, '')
  const why = commands.includes(words) ? undefined : reasonAgainst(words)
  if (why !== undefined) return `cannot be "${listed}": ${why}`
  const near = nearest(words, suggestions)
  const meant =
    near === undefined ? 'name a command, or a group of commands such as user' : `did you mean "${near}"?`
  return `is not a command that a rule can hold: "${listed}"; ${meant}`
}

type Fields = Rule['match'] | NonNullable<Rule['except']>[number]

type Listed = keyof Omit<SubjectFields, 'arguments'>

/** Taken literally, what is meant as a regular expression matches nothing, and the rule would hold nothing. */
const expressionProblem = (text: string): string | undefined =>
  /^\^|\\[bdsw]|\.\*\$$|\((?:\?:|[^()]*\|)/.test(text)
    ? `looks like a regular expression, and only * is special: "${text}"`
    : undefined

/** What is wrong with one of the patterns of a field, by its place in the list. */
const patternProblems: { [name in Listed]?: (text: string, at: number) => string | undefined } = {
  operation: operationProblem,
  argv: (text, at) => {
    if (at > 0) return undefined
    if (/[,\s]/.test(text)) return `must be one word, not "${text}"; several: --argv A --argv B`
    return text.includes('/') ? 'must be the name of a program, without its folder' : undefined
  },
  cwd: (text) => (text.startsWith('/') ? undefined : 'must be an absolute path, such as /srv/**'),
  tool: (text) =>
    text.includes(',') ? `must be one tool, not "${text}"; several: --tool A --tool B` : undefined,
}

/** Fields of another type would never match; in an exception, one would do nothing. */
const fieldsProblems = (type: Rule['match']['type'], fields: Fields, at: string): RuleProblem[] => {
  const own = type === 'command' ? ['type', 'key', 'shells'] : ['type', 'key']
  const known = new Set<string>([...fieldsOfType[type], ...own])
  const stray = Object.keys(fields).filter((name) => !known.has(name))
  if (stray.length > 0)
    return stray.map((name) => ({
      field: `${at}.${name}`,
      message: `is not known in a ${type}: it has ${fieldsOfType[type].join(', ')}`,
    }))
  const { arguments: values = {}, ...texts } = fields
  const lists = [
    ...Object.entries(texts),
    ...Object.entries(values).map(([name, list]) => [`arguments.${name}`, list] as const),
  ]
  return lists.flatMap(([name, list]) =>
    (Array.isArray(list) ? list : []).flatMap((text, i) => {
      const message = patternProblems[name as Listed]?.(text, i) ?? expressionProblem(text)
      return message === undefined ? [] : { field: `${at}.${name}[${i}]`, message }
    }),
  )
}

const isStars = (text: string): boolean => text === '/**' || /^\*+$/.test(text)

/** Whether this field of an exception holds for everything. */
const isOpen = ([name, value]: [string, Fields[keyof Fields]]): boolean => {
  if (!Array.isArray(value)) return Object.keys(value ?? {}).length === 0
  return name === 'argv' ? value.every(isStars) && value.includes('**') : value.some(isStars)
}

const reasonProblems = ({ pattern, example }: NonNullable<Rule['reason']>): RuleProblem[] => {
  if (pattern === undefined)
    return example === undefined ? [] : [{ field: 'reason.pattern', message: 'is required with an example' }]
  if (example === undefined)
    return [{ field: 'reason.example', message: 'is required with a pattern: a reason that matches' }]
  const message = `does not match the pattern ${pattern}, in which only * is special: "${example}"`
  return matches(pattern, example) ? [] : [{ field: 'reason.example', message }]
}

/** One phone must not gain power that lasts. */
const neverForWrites: RuleProblem = {
  field: 'break_glass',
  message: 'is not possible in a rule for calls of svc',
}

/** Why a rule cannot have a grant; undefined if it can. A use of a grant is not checked again by anybody. */
const grantProblem = ({ match, who, number, factors = [] }: Rule): string | undefined => {
  if (match.type !== 'command' && match.type !== 'tool_call')
    return 'is only possible for a command or a tool_call'
  if (who.length > 1 || who[0]?.includes(':'))
    return 'is only possible where one person approves: one group, such as @sre'
  if (number) return 'is not possible with number'
  return factors.some((factor) => factor !== 'biometric') ? 'is not possible with factors' : undefined
}

/** Two versions of a rule fit into what people read and sign when one replaces the other. */
const mostBytes = 8 * 1024
const mostValues = 400

const valuesIn = (value: unknown): number =>
  value === null || typeof value !== 'object'
    ? 1
    : Object.values(value).reduce<number>((sum, inner) => sum + valuesIn(inner), 1)

/** Nobody could be asked to delete a rule that is larger. */
const sizeProblem = (rule: Rule): RuleProblem[] => {
  const [bytes, values] = [Buffer.byteLength(JSON.stringify(rule)), valuesIn(rule)]
  if (bytes <= mostBytes && values <= mostValues) return []
  const most = `at most ${mostBytes} bytes and ${mostValues} values`
  return [
    {
      field: 'match',
      message: `makes the rule too large: ${bytes} bytes of JSON and ${values} values, ${most}`,
    },
  ]
}

/** What is wrong with a rule by itself. */
export const ruleProblems = (rule: Rule): RuleProblem[] => {
  const { match, except = [], who, reason, break_glass, grant } = rule
  const repeated = repeatedLine(who)
  const ungrantable = grant && grantProblem(rule)
  return [
    ...sizeProblem(rule),
    ...fieldsProblems(match.type, match, 'match'),
    ...except.flatMap((fields, at) => {
      const field = `except[${at}]`
      const message = 'is an exception for everything: name what the rule does not hold'
      if (Object.entries(fields).every(isOpen)) return [{ field, message }]
      return fieldsProblems(match.type, fields, field)
    }),
    ...(repeated === undefined ? [] : [{ field: 'who', message: `${repeatedForm}: "${repeated}"` }]),
    ...(reason ? reasonProblems(reason) : []),
    ...(ungrantable === undefined ? [] : [{ field: 'grant', message: ungrantable }]),
    ...(break_glass !== undefined && match.type === 'request' ? [neverForWrites] : []),
  ]
}
