import type { Rule, RuleMatch } from '../contract/rule-shape.ts'
import { type Facts, fieldsOfType, matcherOf } from './match.ts'

type Written = Pick<Rule, 'name' | 'match'>

/** More would hide what else is said. */
const most = 3

/** What one part of a rule says, and the rule without it. */
const parts = (match: RuleMatch): [says: string, rest: RuleMatch][] =>
  fieldsOfType[match.type].flatMap((field): [string, RuleMatch][] => {
    if (field === 'arguments')
      return Object.entries(match.arguments ?? {}).map(([name, texts]) => [
        `argument ${name} is ${texts.join(' or ')}`,
        { ...match, arguments: { ...match.arguments, [name]: ['*'] } },
      ])
    const texts = match[field]
    if (texts === undefined) return []
    const [program = '**'] = texts
    if (field === 'argv')
      return program === '**' ? [] : [[`argv is "${texts.join(' ')}"`, { ...match, argv: [program, '**'] }]]
    return [[`${field} is ${texts.join(' or ')}`, { ...match, [field]: undefined }]]
  })

/** Whether a rule says anything of a request but the part that was left out. An argument that is missing matches anyway. */
const saysMore = (match: RuleMatch, facts: Facts): boolean =>
  fieldsOfType[match.type].some((field) =>
    field === 'arguments' && facts.type === 'tool_call'
      ? Object.keys(match.arguments ?? {}).some((name) => Object.hasOwn(facts.arguments, name))
      : match[field] !== undefined,
  )

/** Whether a pattern contains the name of the tool, such as `Bash(rm *)`. */
const names = ({ tool = [] }: RuleMatch, facts: Facts): boolean =>
  facts.type === 'tool_call' && tool.some((text) => text.includes(facts.tool))

/** The rules that would hold a request but for one of their parts. Each is a sentence. */
export const nearMisses = (rules: readonly Written[], facts: Facts): string[] => {
  const holds = matcherOf(facts)
  return rules
    .filter(({ match }) => match.type === facts.type && !holds({ match }, undefined))
    .flatMap(({ name, match }) => {
      const but = parts(match).find(
        ([, rest]) => (saysMore(rest, facts) || names(match, facts)) && holds({ match: rest }, undefined),
      )
      return but ? [`${name} does not hold it: its ${but[0]}.`] : []
    })
    .slice(0, most)
}
