import type { Rule } from '../contract/rule-shape.ts'
import { fewHeld } from './check.ts'
import { grantText } from './rule-text.ts'
import { type Facts, matcherOf } from './match.ts'

/**
 * Says of a rule that an exception lets more through than it seems to; undefined if none does. In a word, * matches any text:
 * `sandbox/*` also `sandbox/../prod`.
 */
export const openException = ({ name, except = [] }: Pick<Rule, 'name' | 'except'>): string | undefined => {
  const words = except.flatMap(({ argv = [], cwd = [], arguments: values = {} }) => [
    ...argv,
    ...cwd.flatMap((path) => path.split('/')),
    ...Object.values(values).flat(),
  ])
  const open = words.find((word) => word !== '**' && word.includes('*'))
  return open === undefined
    ? undefined
    : `An exception of ${name} has * in "${open}", which also matches .., other folders and options: write out each word that it is for.`
}

/** For a rule for commands: says that an exception names only a folder; undefined if none does. */
export const folderException = ({ name, except = [] }: Pick<Rule, 'name' | 'except'>): string | undefined =>
  except.some(({ argv }) => argv === undefined)
    ? `An exception for a folder alone (${name}) also excepts options that name another folder: give it argv, too.`
    : undefined

/** For a rule for commands: says that its path is only a word; undefined if it has none. */
const pathWarning = ({ name, match: { argv = [] } }: Pick<Rule, 'name' | 'match'>): string | undefined =>
  argv.some((word, at) => at > 0 && word.includes('/'))
    ? `${name} compares words, not files: a relative path, or one with // or .., goes around its path.`
    : undefined

/** Whether another word can stand between two words of the pattern. */
const hasGap = (argv: readonly string[]): boolean =>
  argv.some((word, at) => word !== '**' && at < argv.length - 1 && argv[at + 1] !== '**')

type Written = Pick<Rule, 'name' | 'match' | 'except'> & Partial<Pick<Rule, 'who' | 'break_glass'>>

/** What the patterns of a rule for commands leave out. */
const commandWarnings = ({ name, match, except }: Written): (string | undefined)[] => {
  const { argv, cwd = [] } = match
  const folder = cwd.find((path) => !path.endsWith('**'))
  return [
    argv !== undefined && argv.at(-1) !== '**'
      ? `${name} holds "${argv.join(' ')}" and nothing with a word behind it: add "**" to argv for any further words.`
      : undefined,
    // Without that, every further word is held.
    argv !== undefined && argv.at(-1) === '**' && hasGap(argv.slice(0, -1))
      ? `${name} holds no "${argv[0]}" with other words in between, such as an option: write "**" wherever they can be.`
      : undefined,
    folder === undefined
      ? undefined
      : `${name} holds nothing in a folder below ${folder}: "${folder}/**" also does.`,
    pathWarning({ name, match }),
    folderException({ name, except }),
  ]
}

/** Patterns of a rule for tool calls that look as if more than * were special in them. */
const toolWarnings = ({
  name,
  match: { tool = [], arguments: values = {} },
}: Written): (string | undefined)[] => {
  const odd = tool.find((text) => /[(/\s]/.test(text))
  const compared = Object.values(values)
    .flat()
    .find((text) => /^[<>=!~^]/.test(text))
  return [
    odd === undefined
      ? undefined
      : `${name} holds a tool whose name is "${odd}": its server goes into server, and what it is called with into arguments.`,
    compared === undefined
      ? undefined
      : `${name} compares nothing with "${compared}": in a pattern, only * is special. It holds each value that is not text.`,
  ]
}

/** A text is compared whole. */
const textWarnings = ({ name, match: { text = [] } }: Written): (string | undefined)[] => {
  const whole = text.find((one) => !one.includes('*'))
  return [whole && `${name} holds only the text "${whole}": "*${whole}*" also holds longer ones.`]
}

/** That one of the people whom a rule asks approves alone, who would otherwise need the others. */
const emergencyWarning = ({ name, who = [], break_glass }: Written): string | undefined =>
  break_glass !== undefined && who.some((line) => line.split(':')[0] === break_glass)
    ? `With --break-glass, one member of ${break_glass} approves alone what ${name} asks of the same people: name another group.`
    : undefined

/** A group of commands of which most never wait for an approval. */
const groupWarnings = ({ name, match: { operation = [] } }: Written): (string | undefined)[] =>
  operation.map((group) => {
    const held = fewHeld(group)
    return (
      held &&
      `${name} holds only ${held.join(' and ')} of ${group}: what asks, answers, revokes or refuses never waits for an approval.`
    )
  })

const warningsOf: Partial<Record<Rule['match']['type'], (rule: Written) => (string | undefined)[]>> = {
  command: commandWarnings,
  tool_call: toolWarnings,
  text: textWarnings,
  request: groupWarnings,
}

/** What to think about before a rule is made. Each is a sentence. */
export const ruleWarnings = (rule: Written): string[] =>
  [openException(rule), ...(warningsOf[rule.match.type]?.(rule) ?? []), emergencyWarning(rule)].filter(
    (one) => one !== undefined,
  )

/** What a rule for commands also holds; undefined for any other rule. */
export const shellsNote = ({ name, match: { argv, shells } }: Written): string | undefined =>
  argv !== undefined && shells === undefined
    ? `${name} also holds each command that starts others, such as sh -c, env or sudo, unless it has shells: ignore.`
    : undefined

/** That nobody could break the glass now. */
export const unheardText = (names: readonly string[]): string =>
  `--break-glass would be refused now: svc can tell ${names.join(', ')} neither by e-mail nor by notifications, and everybody must be told.`

/** What the rules of an organization do not hold, near a request. Each is a sentence. */
export const waysAround = (
  rules: readonly Rule[],
  {
    facts,
    isTrusted,
    holding,
    unheard = [],
    isRestricted = false,
  }: {
    facts: Facts
    isTrusted: boolean
    holding: readonly Rule[]
    /** The names of those people of the rules whom no message could tell of an emergency. */
    unheard?: readonly string[]
    /** Whether approvals are checked against a place, a time or a network, which no use of a grant is. */
    isRestricted?: boolean
  },
): string[] => {
  const near = rules.filter(({ match }) => match.type === facts.type)
  const found: string[] = []
  if (facts.type === 'command') {
    found.push(
      'A rule holds a command only where svc asks: svc approve run, or a guard. A command in the shell tool of an agent is a tool_call.',
    )
    if (near.some(({ match }) => match.shells === 'ignore'))
      found.push('A rule with shells: ignore does not see what sh -c, env or sudo starts.')
    const holds = matcherOf(facts)
    const same = near.filter(({ match: { argv = ['**'] } }) =>
      holds({ match: { type: 'command', argv: [argv[0]!, '**'], shells: 'ignore' } }, undefined),
    )
    // Also behind the last word.
    const fixed = same.find(({ match: { argv = [] } }) => hasGap([...argv, '']))
    if (fixed)
      found.push(
        `Further words go around ${fixed.name}: write ** wherever other words can be, such as terraform ** destroy **.`,
      )
    found.push(...same.flatMap((rule) => pathWarning(rule) ?? []).slice(0, 1))
    found.push(...same.flatMap((rule) => folderException(rule) ?? []).slice(0, 1))
    found.push(
      'A script, an interpreter such as python, or a copy of the program can do the same under another name.',
    )
    if (near.some(({ except = [] }) => except.some(({ argv }) => argv !== undefined)))
      found.push('An exception for a program holds for every file of that name, in any folder.')
  }
  if (facts.type === 'tool_call')
    found.push(
      'An agent that has a tool for shell commands can do the same with it: hold that tool, too.',
      'A server is known by the name that the gate or the host of the agent gives it.',
    )
  if (facts.type === 'file') found.push('A copy of the file under another name does not match.')
  if (facts.type === 'text')
    found.push('A text is only a sentence: the same action in other words does not match.')
  if (facts.type === 'request' && isTrusted)
    found.push(
      'The operator can change rules and groups without an approval; the people concerned are notified.',
    )
  const [emergency] = holding
  // One rule that does not allow it is enough to refuse it.
  if (emergency && holding.every(({ break_glass }) => break_glass !== undefined))
    found.push(
      unheard.length > 0
        ? unheardText(unheard)
        : `With --break-glass, one member of ${emergency.break_glass} approves what ${emergency.name} holds, and everybody is told.`,
    )
  found.push(...near.flatMap((rule) => openException(rule) ?? []))
  const granting = holding.find(({ grant }) => grant !== undefined)
  if (granting)
    found.push(
      isRestricted
        ? `The grant of ${granting.name} is not offered: a geofence, a time slot or an allowed network applies, which each approval is checked against.`
        : `Whoever approves what ${granting.name} holds can allow the same again, unseen, ${grantText(granting.grant)}.`,
    )
  if (near.some(({ match }) => match.key))
    found.push('A rule with key holds only those keys, and the keys, people and agents that go back to them.')
  return found
}
