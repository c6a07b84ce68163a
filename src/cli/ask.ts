import * as z from 'zod/mini'
import { schemaOf, type Field } from '../contract/describe.ts'
import type { Operation } from '../contract/operation.ts'
import { SvcError } from '../core/errors.ts'
import type { Context } from './context.ts'
import { label, parseScalar, parseValue } from './flags.ts'
import { isOrg, organizationValue } from './organization.ts'

/** Whether an answer will do; else what is wrong with it, so that it can be typed again. */
const judge = (operation: Operation, field: Field, answer: string): true | string => {
  if (answer === '') return 'must not be empty'
  if (field.kind === 'json' || field.kind === 'list' || isOrg(field)) return true
  try {
    const checked = z.safeParse(schemaOf(operation, field), parseScalar(field, answer))
    return checked.success || checked.error.issues[0]!.message
  } catch (error) {
    if (error instanceof SvcError) return error.message
    throw error
  }
}

/** Asks a person for the value of a field that was not given. */
export const askField = async (operation: Operation, field: Field, context: Context): Promise<unknown> => {
  const prompt = (await context.prompt())!
  const question = label(field)
  if (field.meta.secret) return prompt.secret(question)
  if (field.kind === 'enum') return prompt.select(question, field.choices)
  if (field.kind === 'boolean') return prompt.confirm(`${question}?`)
  const example = isOrg(field) ? 'acme' : field.meta.examples?.[0]
  const answer = await prompt.text(question, {
    example: typeof example === 'object' ? JSON.stringify(example) : String(example ?? ''),
    validate: (text) => judge(operation, field, text.trim()),
  })
  if (isOrg(field)) return organizationValue(field, answer.trim(), context)
  return parseValue(field, field.kind === 'list' ? answer.split(/[\s,]+/) : answer.trim(), context.io)
}
