import type { Terms } from '../../asking/ask.ts'
import { fieldsOf } from '../../contract/describe.ts'
import type { Field, Operation } from '../../contract/operation.ts'
import { SvcError } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { inTypedNames, typedName } from '../operation/typed-names.ts'
import type { Prompt } from '../terminal/prompt.ts'

// What the service requires of a request only if it looks at the rules: whom to ask if no rule says it, and the reason of a rule.

/** Whether a rule demands a reason, which none, or another one, was given. */
const demandsReason = (error: unknown): error is SvcError =>
  error instanceof SvcError && isRecord(error.data?.reason) && error.issues !== undefined

const words = (text: unknown): string | undefined =>
  typeof text === 'string' && text !== '' ? safeLine(text.slice(0, 100)) : undefined

/** The reason that a rule demands, in its own words. */
const demandIn = ({ data }: Pick<SvcError, 'data'>): { prompt?: string; example?: string } => {
  const demand = isRecord(data?.reason) ? data.reason : {}
  const [prompt, example] = [words(demand.prompt), words(demand.example)]
  return { ...(prompt !== undefined && { prompt }), ...(example !== undefined && { example }) }
}

/** Asks for the reason that a rule requires, with the words of the rule. */
export const askReason = (prompt: Prompt, error: SvcError, { io }: Pick<Context, 'io'>): Promise<string> => {
  io.stderr.write(`${safeLine(error.message)}\n`)
  const { prompt: question = 'Reason', example } = demandIn(error)
  return prompt.text(question, {
    ...(example !== undefined && { example }),
    validate: (text) => text.trim() !== '' || 'must not be empty',
  })
}

/** The field that a person has to fill in; undefined if the error is about anything else. */
const demandedField = (
  operation: Operation,
  error: unknown,
  { reason, approvers }: { reason?: unknown; approvers?: unknown },
): Field | undefined => {
  const find = (name: string): Field => fieldsOf(operation).find((field) => field.name === name)!
  if (demandsReason(error) && reason === undefined) {
    const field = find('reason')
    const { prompt = field.meta.description, example } = demandIn(error)
    const examples = example === undefined ? field.meta.examples : [example]
    return { ...field, meta: { ...field.meta, description: prompt, ...(examples && { examples }) } }
  }
  const to = find('approvers')
  const isAboutTo =
    error instanceof SvcError && error.issues?.some(({ field }) => field === typedName(operation, to))
  return isAboutTo && approvers === undefined ? to : undefined
}

/** Sends a request. Asks the person at the terminal for what the service requires and nobody gave, and sends it again. */
export const submitAsking =
  (operation: Operation, context: Context): NonNullable<Terms['submit']> =>
  async (input, send) => {
    const given = { ...input }
    for (;;)
      try {
        return await send()
      } catch (failure) {
        const error = inTypedNames(operation, failure)
        const field = demandedField(operation, error, given)
        if (!field || !(await context.prompt())) throw error
        context.io.stderr.write(`${safeLine((error as SvcError).message)}\n`)
        const { askField } = await import('../operation/ask.ts')
        Object.assign(input, { [field.name]: await askField(operation, field, context) })
      }
  }
