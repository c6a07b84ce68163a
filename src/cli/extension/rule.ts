import { fieldsIn } from '../../client/answer-data.ts'
import type { Input, Operation } from '../../contract/operation.ts'
import { rule } from '../../contract/rule.ts'
import type { Rule } from '../../contract/rule-shape.ts'
import { SvcError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import type { Answers } from '../operation/confirm.ts'
import { ifReadable } from '../operation/if-readable.ts'
import { type Extension, type Extensions, withExtras } from '../operation/operation-command.ts'
import { warnOfRules } from '../operation/rule-warnings.ts'
import type { Extras } from '../operation/run-operation.ts'

const { testRule: _, ...others } = rule

/** The operations whose commands come from the table. */
export const ruleOperations = others

/** A rule that is valid by itself. Throws for one that the service would refuse. */
const requireValid = async (input: Record<string, unknown>): Promise<Rule> => {
  const { issuesOf } = await import('../../contract/issues.ts')
  const { ruleProblems } = await import('../../rules/check.ts')
  const { inTypedNames } = await import('../operation/typed-names.ts')
  const { input: schema } = rule.createRule
  const { data, error } = schema.safeParse(input)
  const issues = data ? ruleProblems(data) : issuesOf(error!, schema, input)
  const [first] = issues
  if (!first) return data as Rule
  const message = `${first.field} ${first.message}`
  throw inTypedNames(rule.createRule, new SvcError('usage', 'invalid_field', message, { issues }))
}

const checkNew: Extras['dryCheck'] = async (input, context) => {
  await warnOfRules([await requireValid(input)], context)
  return 'The rule by itself is valid. Groups, keys and other rules were not checked.'
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

/** In words what a rule holds. */
const texts = async (): Promise<Pick<Extras, 'texts'>> => {
  const { exceptText, grantText, matchText, reasonText } = await import('../../rules/rule-text.ts')
  return { texts: { match: matchText, except: exceptText, reason: reasonText, grant: grantText } }
}

const extend = (operation: Operation): Extension => withExtras(operation, texts)

/** What a rule holds and whom it asks, for the question before its deletion; nothing if this key cannot read it. */
const heldBy = async (input: Record<string, unknown>, context: Context): Promise<string[]> => {
  const { matchText } = await import('../../rules/rule-text.ts')
  const client = await context.client()
  const { signal } = context.io
  const found = await ifReadable(client.call(rule.getRule, input as Input<typeof rule.getRule>, { signal }))
  const shown = found ? fieldsIn(found) : {}
  return shown.match && shown.who
    ? [`It holds ${matchText(shown.match)}, and asks ${shown.who.join(', ')}`]
    : []
}

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

/** Asks before a rule for everything, which is easily made by leaving something out. */
const askOfAll = async (made: Rule, { yes }: Answers, context: Context) => {
  const { type, shells: _, ...patterns } = (made.match ?? {}) as Partial<Rule['match']>
  if (type === undefined || Object.keys(patterns).length > 0) return
  await requireValid(made)
  const { requireYes } = await import('../operation/confirm.ts')
  const what = `Without a pattern, the rule holds every ${type}`
  await requireYes(
    `${what}. Continue?`,
    { yes, unasked: `${what}: confirm that with --yes`, declined: 'No rule was created' },
    context,
  )
}

export const ruleTable: Extensions = new Map<Operation, Extension>([
  [rule.listRules, extend(rule.listRules)],
  [rule.getRule, extend(rule.getRule)],
  [
    rule.createRule,
    {
      ...withExtras(rule.createRule, async (context) => {
        let made: Rule
        return {
          ...(await texts()),
          complete: askPattern,
          dryCheck: checkNew,
          first: async (input, answers) => {
            made = input as Rule
            await askOfAll(made, answers, context)
          },
          afterShown: async (answer) => {
            await warnOfRules([made], context)
            const { unheard = [] } = fieldsIn(answer)
            if (unheard.length === 0) return
            const { unheardText } = await import('../../rules/ways-around.ts')
            const { warn } = await context.output()
            warn(`Warning: ${safeLine(unheardText(unheard))}`)
          },
        }
      }),
      options: {
        '-y, --yes': 'Do not ask before a rule without a pattern, which holds everything of its type',
      },
    },
  ],
  [
    rule.deleteRule,
    withExtras(rule.deleteRule, async (context) => ({
      ...(await texts()),
      dryCheck: checkOld,
      consequence: (input) => heldBy(input, context),
    })),
  ],
])
