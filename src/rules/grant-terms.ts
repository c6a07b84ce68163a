import { type Rule, usualGrant } from '../contract/rule-shape.ts'
import { isUsualVariable } from '../core/usual-variables.ts'
import type { GrantTerms } from '../receipt/context.ts'
import type { Subject } from '../receipt/subject.ts'
import { interprets, startsOthers } from './starters.ts'

// What the rules that hold a request let its approver grant for a while: the same again, in which a word or an argument may
// differ for which every rule has the pattern `*`.

const freeWords = ({ match: { argv = [] } }: Rule): string[] => {
  const aligned = argv.includes('**') ? argv.indexOf('**') : argv.length
  return argv.slice(0, aligned).flatMap((pattern, at) => (at > 0 && pattern === '*' ? [String(at)] : []))
}

const freeArguments = ({ match: { arguments: values = {} } }: Rule): string[] =>
  Object.entries(values).flatMap(([name, patterns]) => (patterns.includes('*') ? [name] : []))

/** Arguments in which a program runs: of such a call, nothing may differ. */
const running =
  /^(?:commands?|cmd|script|code|shell|exec|eval|program|executable|args|arguments|argv|sql|query|expression|source|stdin|input)$/i

const freeIn = (rule: Rule, subject: Subject): string[] => {
  if (subject.type === 'command') return freeWords(rule)
  if (subject.type !== 'tool_call' || Object.keys(subject.data.arguments).some((one) => running.test(one)))
    return []
  return freeArguments(rule).filter((name) => Object.hasOwn(subject.data.arguments, name))
}

const isGrantable = (subject: Subject): boolean => {
  if (subject.type !== 'command') return subject.type === 'tool_call'
  const { argv, executable, environment } = subject.data
  const command = { argv, executable: executable.path }
  // Of a variable that is passed on, only the name is bound: its value, such as KUBECONFIG, could be another one each time.
  return !startsOthers(command) && !interprets(command) && environment.passed.every(isUsualVariable)
}

/** Undefined unless every rule allows a grant. */
export const grantTermsOf = (rules: readonly Rule[], subject: Subject): GrantTerms | undefined => {
  const [first, ...others] = rules
  const grants = rules.flatMap(({ grant }) => grant ?? [])
  if (!first || grants.length < rules.length || !isGrantable(subject)) return undefined
  return {
    free: freeIn(first, subject).filter((one) => others.every((rule) => freeIn(rule, subject).includes(one))),
    seconds: Math.min(...grants.map(({ max_s = usualGrant.max_s }) => max_s)),
    uses: Math.min(...grants.map(({ uses = usualGrant.uses }) => uses)),
  }
}
