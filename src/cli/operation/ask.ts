import * as z from 'zod/mini'
import { messageFor } from '../../client/shown-fields.ts'
import { schemaOf } from '../../contract/describe.ts'
import type { Field, Operation } from '../../contract/operation.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import { safeLine } from '../../core/safe-text.ts'
import type { Context } from '../context/context.ts'
import { label, parseValue, put, type Gathered } from './flags.ts'
import { isOrg, organizationValue } from '../context/organization.ts'
import { typedName } from './typed-names.ts'

/** The value of an answer. Throws a usage error, or the error of the service if it does not find the organization. */
const valueOf = async (
  operation: Operation,
  field: Field,
  answer: string,
  context: Context,
): Promise<unknown> => {
  if (answer === '') throw usageError('must not be empty')
  if (isOrg(field)) return organizationValue(field, answer, context)
  const raw =
    field.kind === 'list'
      ? answer.split(field.meta.repeat ? /\s+/ : /[\s,]+/).filter((word) => word !== '')
      : answer
  const value = field.meta.secret ? raw : await parseValue(field, raw, context.io, 'This')
  const checked = z.safeParse(schemaOf(operation, field), value)
  if (checked.success) return value
  throw usageError(messageFor(checked.error.issues[0]!.message, field.meta))
}

/** A value as a person would type it. */
const textOf = (value: unknown): string => {
  if (value === undefined) return ''
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(' ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * Prompts for the value of a missing field. The prompt checks each answer and repeats until one is valid; `before` is an
 * earlier answer to correct.
 */
export const askField = async (
  operation: Operation,
  field: Field,
  context: Context,
  before?: unknown,
): Promise<unknown> => {
  const prompt = (await context.prompt())!
  const question = label(field)
  if (field.kind === 'enum') return prompt.select(question, field.choices)
  const { meanings } = field.meta
  if (meanings) {
    const width = Math.max(...field.choices.map((choice) => choice.length))
    const choices = field.choices.map((value) => ({
      value,
      name: `${value.padEnd(width)}  ${meanings[value] ?? ''}`.trimEnd(),
    }))
    return prompt.tick(question, choices)
  }
  if (field.kind === 'boolean') return prompt.confirm(`${question}?`)
  let value: unknown
  let failure: unknown
  const validate = async (text: string): Promise<true | string> => {
    try {
      value = await valueOf(operation, field, text.trim(), context)
    } catch (error) {
      if (error instanceof SvcError && ['usage', 'notFound'].includes(error.exit)) return error.message
      failure = error
    }
    return true
  }
  if (field.meta.secret) await prompt.secret(question, { validate })
  else {
    const example = isOrg(field) ? 'acme' : textOf(field.meta.examples?.[0])
    await prompt.text(question, { example, validate, initial: textOf(before) })
  }
  if (failure !== undefined) throw failure
  return value
}

/** The fields that error codes without issues are about. */
const fieldOfCode: Record<string, string> = {
  name_taken: 'name',
  slug_taken: 'slug',
  user_exists: 'mobile',
  machine_exists: 'machineId',
}

/** The prompted fields whose values the service refused; none if it refused anything else too. */
const refusedAnswers = (operation: Operation, prompted: readonly Field[], error: SvcError): Field[] => {
  const isAbout = (field: Field, name: string): boolean => {
    const typed = typedName(operation, field)
    return name === typed || name.startsWith(`${typed}.`) || name.startsWith(`${typed}[`)
  }
  const { issues = [], code } = error
  if (issues.length === 0) return prompted.filter(({ name }) => name === fieldOfCode[code])
  const all = issues.every((issue) => prompted.some((field) => isAbout(field, issue.field)))
  return all ? prompted.filter((field) => issues.some((issue) => isAbout(field, issue.field))) : []
}

/**
 * Sends the gathered input. If the service refuses an answer to a prompt, svc asks that question again and keeps the
 * other answers.
 */
export const untilAccepted = async <T>(
  operation: Operation,
  { input, prompted = [] }: Pick<Gathered, 'input' | 'prompted'>,
  context: Context,
  send: () => Promise<T>,
): Promise<T> => {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      const refused = error instanceof SvcError ? refusedAnswers(operation, prompted, error) : []
      // An approved request must not change.
      if (refused.length === 0 || (await context.settings()).requireApproval.length > 0) throw error
      const { message, issues = [] } = error as SvcError
      const lines = issues.length > 0 ? issues.map((issue) => `${issue.field} ${issue.message}`) : [message]
      for (const line of lines) context.io.stderr.write(`${safeLine(line)}\n`)
      for (const field of refused) {
        const plain = field.path.length === 1 && !isOrg(field) && !field.meta.secret
        const before = plain ? input[field.name] : undefined
        put(input, field.path, await askField(operation, field, context, before))
      }
    }
  }
}
