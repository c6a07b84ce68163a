import { Chalk } from 'chalk'
import stringWidth from 'string-width'
import type { Data } from '../../contract/operation.ts'
import type { rule } from '../../contract/rule.ts'
import { inWholeSeconds } from '../../core/iso-time.ts'
import { spanText } from '../../core/sentence.ts'
import { reasonText } from '../../rules/rule-text.ts'
import { startsOthers } from '../../rules/starters.ts'
import { safeLine } from '../../core/safe-text.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { padded } from '../terminal/columns.ts'
import { wrap } from '../terminal/wrap.ts'
import type { Tested } from './rule-tested.ts'

type Result = Data<typeof rule.testRule>
type Line = Result['lines'][number]
type Look = { tested: Tested; org: string; colour: boolean; width: number }

/** Lines in two columns; a long second cell goes on below itself. */
const columns = (rows: readonly (readonly [string, string])[], width: number, indent = ''): string[] => {
  const first = Math.max(0, ...rows.map(([name]) => stringWidth(name)))
  return rows.flatMap(([name, text]) => {
    const [head, ...rest] = wrap(text, Math.max(20, width - indent.length - first - 2))
    const margin = ' '.repeat(indent.length + first + 2)
    return [`${indent}${padded(name, first)}  ${head}`, ...rest.map((part) => margin + part)]
  })
}

const bullet = (text: string, width: number): string[] =>
  wrap(text, Math.max(20, width - 2)).map((line, at) => `${at === 0 ? '-' : ' '} ${line}`)

const askedIn = ({ people }: Line): number => people.filter(({ excluded }) => excluded === null).length

const isShort = (line: Line): boolean => askedIn(line) < line.need

const stateOf = ({ excluded, away_until, notified }: Line['people'][number]): string => {
  if (excluded !== null) return `would not be asked: ${safeLine(excluded)}`
  if (away_until == null)
    return notified ? 'would be asked' : 'would be asked, but not notified: over a limit, or muted the key'
  const until = `away until ${safeLine(inWholeSeconds(away_until))}`
  return notified
    ? `would be asked although ${until}: the others are too few`
    : `${until}: not notified, but can answer`
}

const lineText = (line: Line, { width }: Look): string[] => {
  const { group, need, rules, people } = line
  const name = group === null ? 'A group that does not exist' : `@${safeLine(group)}`
  const head = `${name}: ${need} of ${people.length} must agree (${rules.map(safeLine).join(', ')})`
  const rows = people.map((one) => [safeLine(one.name), stateOf(one)] as const)
  return [head, ...columns(rows, width, '  ')]
}

/** What to type if too few people can answer. */
const fixes = (lines: readonly Line[], org: string): string[] =>
  lines
    .filter(isShort)
    .map(({ group, rules }) =>
      group === null
        ? `svc rule get ${shellQuote(rules[0] ?? 'NAME')} --org ${shellQuote(org)}`
        : `svc group add ${shellQuote(group)} --user ID --org ${shellQuote(org)}`,
    )

const verdict = ({ completable, problem, lines }: Result, { org, colour }: Look): string[] => {
  const chalk = new Chalk({ level: colour ? 1 : 0 })
  if (completable) return [chalk.green('It can be approved now.')]
  const short = fixes(lines, org)
  // The lines above say who is missing.
  const why =
    short.length > 0 ? 'too few people can answer' : safeLine(problem ?? 'the service does not say why')
  return [chalk.red(`It cannot be approved now: ${why}.`), ...short.map((line) => `  ${line}`)]
}

const terms = (result: Result, { width }: Look): string[] =>
  columns(
    [
      ['Time to decide', spanText(result.lifetime_s)],
      ['Time to use', spanText(result.use_within_s)],
      ...(result.number ? [['Number', 'each approver types one that only the requester sees'] as const] : []),
      ...(result.factors.length > 0 ? [['Factors', result.factors.join(', ')] as const] : []),
      ...result.reasons.map((one) => ['Reason', safeLine(`${reasonText(one)} (${one.rule})`)] as const),
    ],
    width,
  )

/** The calls that ask people also without a rule. */
const askingAnyway: [words: RegExp, says: string][] = [
  [
    /^(?:rule|group) /,
    'Without a rule, a change of rules or groups asks an administrator and whom it weakens.',
  ],
  [/^key confirm-owner$/, 'Without a rule, the owner of the key confirms it on their own phone.'],
  [/^key create$/, 'Without a rule, a new key asks its own person if the key in use is of a sign-in.'],
]

const anyway = (tested: Tested): string[] =>
  tested.type === 'request'
    ? askingAnyway.flatMap(([words, says]) => (words.test(tested.operation) ? says : []))
    : []

/** Why rules match that name another program. */
const startsAny = ({ tested, width }: Look): string[] => {
  if (tested.type !== 'command') return []
  const [program = ''] = tested.argv
  return startsOthers({ argv: tested.argv, executable: program })
    ? wrap(
        `${safeLine(program)} starts other commands, so each rule for commands matches it, unless the rule has shells: ignore.`,
        width,
      )
    : []
}

const nothing = ({ tested, org, width }: Look): string[] => {
  const [says] = anyway(tested)
  if (says !== undefined) return wrap(`No rule matches. ${says}`, width)
  if (tested.type === 'request')
    return [`No rule matches: svc ${tested.operation} in ${org} waits for no approval.`]
  const head = 'No rule matches. The requester says who must approve'
  if (tested.type !== 'command') return [`${head} (--to).`]
  return [`${head}:`, `  svc approve run --to @GROUP -- ${tested.argv.map(shellQuote).join(' ')}`]
}

/** The result for a person. */
export const testText = (result: Result, look: Look): string => {
  const { rules, excepted, lines, near_misses: near, ways_around: ways } = result
  const { width } = look
  const names = rules.map(({ name }) => safeLine(name))
  const exceptions = excepted.map((name) => [
    `Excepted by rule ${safeLine(name)}: it would match, but one of its exceptions does.`,
  ])
  const blocks =
    rules.length === 0
      ? [nothing(look), ...exceptions]
      : [
          [
            `${rules.length === 1 ? 'Rule' : 'Rules'} ${names.join(', ')} ${rules.length === 1 ? 'matches' : 'match'}.`,
            ...startsAny(look),
          ],
          ...exceptions,
          ...lines.map((line) => lineText(line, look)),
          verdict(result, look),
          terms(result, look),
          ...anyway(look.tested).map((says) => wrap(says, width)),
        ]
  if (near.length > 0)
    blocks.push(['Nearly matched:', ...near.flatMap((rule) => bullet(safeLine(rule), width))])
  if (ways.length > 0) blocks.push(['Ways around:', ...ways.flatMap((way) => bullet(safeLine(way), width))])
  return `${blocks.map((block) => block.join('\n')).join('\n\n')}\n`
}
