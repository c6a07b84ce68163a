import type { Input, Operation } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import { SvcError } from '../../core/errors.ts'
import { type Extension, type Extensions, withExtras } from '../operation/operation-command.ts'
import type { Extras } from '../operation/run-operation.ts'

const { testRule: _, ...others } = rule

/** The operations whose commands come from the table. */
export const ruleOperations = others

const checkNew: Extras['dryCheck'] = async (input) => {
  const { issuesOf } = await import('../../contract/issues.ts')
  const { ruleProblems } = await import('../../rules/check.ts')
  const { inTypedNames } = await import('../operation/typed-names.ts')
  const { input: schema } = rule.createRule
  const { data, error } = schema.safeParse(input)
  const issues = data ? ruleProblems(data) : issuesOf(error!, schema, input)
  const [first] = issues
  if (!first) return 'The rule by itself is valid. Groups, keys and other rules were not checked.'
  const message = `${first.field} ${first.message}`
  throw inTypedNames(rule.createRule, new SvcError('usage', 'invalid_field', message, { issues }))
}

const checkOld: Extras['dryCheck'] = async (input, context) => {
  const { asTyped } = await import('../operation/typed-names.ts')
  const client = await context.client()
  const { signal } = context.io
  await asTyped(
    rule.getRule,
    input,
    client.call(rule.getRule, input as Input<typeof rule.getRule>, { signal }),
  )
  return 'The rule exists. Whether people must approve its deletion was not checked.'
}

type Checks = Pick<Extras, 'complete' | 'dryCheck' | 'first'>

/** Shows in words what a rule holds, and checks more in a dry run. */
const extend = (operation: Operation, checks: Checks = {}): Extension =>
  withExtras(operation, async () => {
    const { exceptText, grantText, matchText, reasonText } = await import('../../rules/rule-text.ts')
    const texts = { match: matchText, except: exceptText, reason: reasonText, grant: grantText }
    return { texts, ...checks }
  })

/** The field that most rules of a type have a pattern for. */
const usualField = {
  text: 'text',
  command: 'argv',
  request: 'operation',
  file: 'file',
  tool_call: 'tool',
} as const

/** Without this, a rule from prompts would hold everything of its type, because no pattern is required. */
const askPattern: Extras['complete'] = async (input, { yes }, context) => {
  const match = (input as Partial<Rule>).match ?? ({} as Partial<Rule['match']>)
  const { type, shells: _, ...patterns } = match
  const prompt = await context.prompt()
  if (yes || !prompt || type === undefined || Object.keys(patterns).length > 0) return
  const { ruleParts } = await import('../../contract/rule-shape.ts')
  const { fieldsOf } = await import('../../contract/describe.ts')
  const name = usualField[type]
  const { meta } = fieldsOf(rule.createRule).find((field) => field.name === name)!
  const typed = (answer: string) => (name === 'argv' ? answer.trim().split(/\s+/) : [answer.trim()])
  const answer = await prompt.text(`${meta.description}; empty for every ${type}`, {
    example: (meta.examples![0] as string[]).join(' '),
    validate: (text) =>
      text.trim() === '' ||
      (ruleParts.match.safeParse({ type, [name]: typed(text) }).error?.issues[0]!.message ?? true),
  })
  if (answer.trim() !== '') Object.assign(match, { [name]: typed(answer) })
}

/** Asks before a rule for everything, which is easily made by leaving something out, and warns of what it holds or not. */
const warnOfNew: Extras['first'] = async (input, { yes }, context) => {
  const { match, name, except } = input as Partial<Rule>
  if (!match) return
  const { type, shells: _, ...patterns } = match
  if (type !== undefined && Object.keys(patterns).length === 0) {
    const { requireYes } = await import('../operation/confirm.ts')
    const what = `Without a pattern, the rule holds every ${type}`
    await requireYes(
      `${what}. Continue?`,
      { yes, unasked: `${what}: confirm that with --yes`, declined: 'No rule was created' },
      context,
    )
  }
  const { ruleWarnings, shellsNote } = await import('../../rules/ways-around.ts')
  const { ruleParts } = await import('../../contract/rule-shape.ts')
  // The service says what is wrong with any other exception.
  const { data } = ruleParts.except.safeParse(except)
  const output = await context.output()
  const written = { match, name: name ?? '', except: data }
  for (const warning of ruleWarnings(written)) output.warn(warning)
  const note = shellsNote(written)
  if (note) output.note(note)
}

export const ruleTable: Extensions = new Map<Operation, Extension>([
  [rule.listRules, extend(rule.listRules)],
  [rule.getRule, extend(rule.getRule)],
  [
    rule.createRule,
    {
      ...extend(rule.createRule, { complete: askPattern, dryCheck: checkNew, first: warnOfNew }),
      options: {
        '-y, --yes': 'Do not ask before a rule without a pattern, which holds everything of its type',
      },
    },
  ],
  [rule.deleteRule, extend(rule.deleteRule, { dryCheck: checkOld })],
])
