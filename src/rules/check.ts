import { parseLine, repeatedForm, repeatedLine } from '../contract/approvers.ts'
import type { Operation } from '../contract/operation.ts'
import type { Rule } from '../contract/rule-shape.ts'
import { type OperationId, table } from '../contract/table.ts'
import { nearest } from '../core/nearest.ts'
import { matches } from '../core/wildcard.ts'
import { fieldsOfType } from './match.ts'

/** What is wrong with a rule; `field` is its path in the rule. */
export type RuleProblem = { field: string; message: string; hint?: string }

/** Reactions to an incident never wait for an approval. */
const reactions = new Set<OperationId>(['revokeDevice', 'refuseDevice', 'revokeKey', 'revokeAgent'])

/** Whether a rule can hold a call. Requests and decisions cannot wait for an approval either, and reads change nothing. */
export const isHoldable = (id: OperationId): boolean => {
  const { effect, open, session, scope = [] }: Operation = table[id]
  const asks = scope === 'ask' || scope.includes('ask')
  return effect !== 'read' && !open && !session && !asks && !reactions.has(id)
}

const commands = (Object.keys(table) as OperationId[]).filter(isHoldable).map((id) => table[id].cli)
const suggestions = [...new Set(commands.flatMap((cli) => [cli, cli.split(' ')[0]!]))]

const operationProblem = (listed: string): string | undefined => {
  if (commands.some((cli) => cli === listed || cli.startsWith(`${listed} `))) return undefined
  const near = nearest(listed, suggestions)
  const meant = near === undefined ? '' : `; did you mean "${near}"?`
  return `is not a command that a rule can hold: "${listed}"${meant}`
}

type Fields = Rule['match'] | NonNullable<Rule['except']>[number]

/** Fields of another type would never match; in an exception, one would do nothing. */
const fieldsProblem = (type: Rule['match']['type'], fields: Fields, at: string): RuleProblem | undefined => {
  const known = new Set<string>([
    ...fieldsOfType[type],
    'type',
    'key',
    ...(type === 'command' ? ['shells'] : []),
  ])
  const stray = Object.keys(fields).find((name) => !known.has(name))
  if (stray !== undefined)
    return {
      field: `${at}.${stray}`,
      message: `is not known in a ${type}: it has ${fieldsOfType[type].join(', ')}`,
    }
  for (const [i, listed] of (fields.operation ?? []).entries()) {
    const message = operationProblem(listed)
    if (message !== undefined)
      return {
        field: `${at}.operation[${i}]`,
        message,
        hint: 'Name a command, or a group of commands such as user',
      }
  }
  if (fields.argv?.[0]?.includes('/'))
    return { field: `${at}.argv[0]`, message: 'must be the name of a program, without its folder' }
  const wrong = fields.cwd?.findIndex((path) => !path.startsWith('/')) ?? -1
  return wrong < 0
    ? undefined
    : { field: `${at}.cwd[${wrong}]`, message: 'must be an absolute path, such as /srv/**' }
}

const linesProblem = (who: readonly string[]): RuleProblem | undefined => {
  const named = who.findIndex((text) => parseLine(text).group === undefined)
  if (named >= 0)
    return {
      field: `who[${named}]`,
      message: 'must be a group, so that each change of the people is approved',
      hint: 'Create a group first: svc group create NAME --members ID,ID',
    }
  const repeated = repeatedLine(who)
  return repeated === undefined ? undefined : { field: 'who', message: `${repeatedForm}: "${repeated}"` }
}

const reasonProblem = ({ pattern, example }: NonNullable<Rule['reason']>): RuleProblem | undefined => {
  if (pattern === undefined) return undefined
  if (example === undefined) return { field: 'reason.example', message: 'is required with a pattern' }
  return matches(pattern, example)
    ? undefined
    : { field: 'reason.example', message: `does not match the pattern ${pattern}: "${example}"` }
}

/** The first thing that is wrong with a rule by itself; undefined if nothing is. */
export const ruleProblem = ({ match, except = [], who, reason }: Rule): RuleProblem | undefined => {
  for (const [at, fields] of [match, ...except].entries()) {
    const where = at === 0 ? 'match' : `except[${at - 1}]`
    if (at > 0 && Object.keys(fields).length === 0)
      return { field: where, message: 'must name a field: an empty exception holds for everything' }
    const problem = fieldsProblem(match.type, fields, where)
    if (problem) return problem
  }
  return linesProblem(who) ?? (reason && reasonProblem(reason))
}
