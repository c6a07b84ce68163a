import * as z from 'zod/mini'
import { reasonText } from '../../../contract/reason-text.ts'
import { lineTexts } from '../../../contract/line-text.ts'
import { line } from '../../../contract/field.ts'
import { factors } from '../../../contract/records.ts'
import { parseYaml, type FileKind, type Problem } from '../../declare/yaml.ts'
import type { ToolCall } from './message.ts'
import { onlyNamed } from '../../../core/folded-name.ts'
import { hasWildcard, matches } from '../../../core/wildcard.ts'

const pattern = z.string().check(
  z.regex(
    /^[\x21-\x7e]{1,128}$/,
    'must be the name of a tool, such as write_file or write_*: 1 to 128 printable ASCII characters',
  ),
  z.refine(
    (text) => !/[[\]{}?]/.test(text as string),
    'can only contain the wildcard *; write a list instead',
  ),
)
const patterns = z.union([pattern, z.array(pattern).check(z.minLength(1, 'must not be empty'))])
const scalar = z.union([z.string(), z.number(), z.boolean()], 'must be text, a number, true or false')

/** One line, or a list of lines that must all agree; `linesAt` checks them. */
const to = z.union([z.string(), z.array(z.string())])
const approval = {
  /** Without it, whom rules of the organization ask. */
  to: z.optional(to),
  /** For rules that require one. */
  reason: z.optional(reasonText),
  /** Time for the decision, in seconds. */
  timeout: z.optional(z.int().check(z.gte(1, 'must be 1 or more'), z.lte(3600, 'must be at most 3600'))),
  factors: z.optional(z.array(z.enum(factors))),
}
const action = z.enum(['hold', 'pass'])

const shape = z.strictObject({
  /** The name of the server, as the approver reads it. */
  server: line(60),
  org: z.optional(line(60)),
  ...approval,
  /** What happens to tools that no rule names. */
  default: z.optional(action),
  /** The first rule that matches a call decides about it. */
  rules: z.optional(
    z.array(
      z.strictObject({
        tools: patterns,
        action,
        /** Only for `pass`: values that the arguments must have. */
        when: z.optional(z.record(z.string(), z.union([scalar, z.array(scalar)]))),
        ...approval,
      }),
    ),
  ),
})

type Scalar = string | number | boolean
type Approval = {
  /** Nobody: only whom rules of the organization ask. */
  to: string[]
  reason?: string | undefined
  timeout: number
  factors: (typeof factors)[number][] | undefined
}
type Rule = {
  tools: string[]
  when: [name: string, values: Scalar[]][]
  action: 'hold' | 'pass'
  approval: Approval
}
export type Rules = { server: string; org: string | undefined; rules: Rule[]; otherwise: Rule }

const kind: FileKind = {
  single: 'a file has the rules for one server',
  nothing: 'nothing was started',
  schema: 'svc mcp gate --help',
  example: 'svc mcp gate --help shows an example',
}

/** The lines; adds what is wrong with them to the problems. */
const linesAt = (typed: string | string[], path: PropertyKey[], problems: Problem[]): string[] => {
  const lines = lineTexts.safeParse([typed].flat())
  if (lines.success) return lines.data
  for (const { path: at, message } of lines.error.issues)
    problems.push({ path: Array.isArray(typed) ? [...path, ...at] : path, message })
  return []
}

/** Reads the rules. Throws one usage error with all mistakes, each with line and column. */
export const readRules = (text: string, file: string): Rules => {
  const { check, invalid } = parseYaml(text, file, kind)
  const { server, org, rules = [], default: action = 'hold', ...top } = check(shape)
  const problems: Problem[] = []
  const approval = {
    to: top.to === undefined ? [] : linesAt(top.to, ['to'], problems),
    reason: top.reason,
    timeout: top.timeout ?? 120,
    factors: top.factors,
  }
  const read = rules.map(({ tools, when = {}, ...rule }, at): Rule => {
    if (rule.action === 'hold' && Object.keys(when).length > 0)
      problems.push({
        path: ['rules', at, 'when'],
        message: 'is only for pass: let harmless calls pass in a rule above, and hold the others',
      })
    const all = rules.findIndex((one) => one.when === undefined && [one.tools].flat().includes('*'))
    if (all >= 0 && all < at)
      problems.push({
        path: ['rules', at],
        message: `is never reached, because rules[${all}] matches every tool`,
      })
    return {
      tools: [tools].flat(),
      when: Object.entries(when).map(([name, values]) => [name, [values].flat()]),
      action: rule.action,
      approval: {
        to: rule.to === undefined ? approval.to : linesAt(rule.to, ['rules', at, 'to'], problems),
        reason: rule.reason ?? approval.reason,
        timeout: rule.timeout ?? approval.timeout,
        factors: rule.factors ?? approval.factors,
      },
    }
  })
  if (problems.length > 0) throw invalid(problems)
  return { server, org, rules: read, otherwise: { tools: ['*'], when: [], action, approval } }
}

/**
 * A server resolves `..`, may take `\` for `/` and leaves out a line feed of an address (WHATWG), so a pattern says nothing about
 * such a value.
 */
const isResolved = (text: string): boolean => /\.\.|[\\%\p{Cc}]/u.test(text)

const accepts = (wanted: Scalar, given: unknown): boolean => {
  if (typeof wanted !== 'string' || typeof given !== 'string' || !hasWildcard(wanted)) return wanted === given
  return !isResolved(given) && matches(wanted, given)
}

/** Whether an argument has one of the values. Not if the server could find another one under its name. */
const hasValue = (given: ToolCall['arguments'], name: string, values: readonly Scalar[]): boolean => {
  const found = onlyNamed(given, name)
  return values.some((value) => accepts(value, found))
}

/** The rule for a call: the first that matches, or else the default. */
export const ruleFor = (rules: Rules, call: Pick<ToolCall, 'name' | 'arguments' | 'parameters'>): Rule =>
  rules.rules.find(
    ({ tools, when }) =>
      tools.some((tool) => matches(tool, call.name)) &&
      when.every(([name, values]) => hasValue(call.arguments, name, values)),
  ) ?? rules.otherwise
