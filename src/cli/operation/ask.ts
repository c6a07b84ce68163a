import * as z from 'zod/mini'
import { rowsIn } from '../../client/answer-data.ts'
import { messageFor } from '../../client/shown-fields.ts'
import { schemaOf } from '../../contract/describe.ts'
import type { Field, Operation } from '../../contract/operation.ts'
import { SvcError, usageError } from '../../core/errors.ts'
import type { Context } from '../context/context.ts'
import { label, parseValue } from './flags.ts'
import { ifReadable } from './if-readable.ts'
import { isOrg, organizationValue } from '../context/organization.ts'

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

/** The slugs of the first organizations that the key can read; none if it reads none. */
const someSlugs = async (context: Context): Promise<string[]> => {
  const [{ org }, client] = await Promise.all([import('../../contract/org.ts'), context.client()])
  const { signal } = context.io
  const read = async () =>
    rowsIn(org.listOrganizations, await client.call(org.listOrganizations, { limit: 5 }, { signal }))
  const rows = (await ifReadable(read())) ?? []
  return rows.flatMap(({ slug = '' }) => (/^[\w-]{1,60}$/.test(slug) ? [slug] : []))
}

/**
 * Prompts for the value of a missing field. The prompt checks each answer and repeats until one is valid.
 */
export const askField = async (operation: Operation, field: Field, context: Context): Promise<unknown> => {
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
      if (error instanceof SvcError && error.exit === 'usage') return error.message
      if (error instanceof SvcError && error.exit === 'notFound')
        return `${error.message}: svc org list shows them, svc org create makes one (Esc ends this)`
      failure = error
    }
    return true
  }
  if (field.meta.secret) await prompt.secret(question, { validate })
  else {
    // Nobody deletes in an organization that they did not name.
    const slugs = isOrg(field) && operation.effect !== 'delete' ? await someSlugs(context) : []
    const only = slugs.length === 1 ? slugs[0] : undefined
    const [given] = isOrg(field) ? [slugs.join(', ') || 'acme'] : (field.meta.examples ?? [])
    const plain = typeof given === 'object' ? JSON.stringify(given) : String(given)
    const example = Array.isArray(given) ? given.join(' ') : plain
    await prompt.text(question, only === undefined ? { example, validate } : { only, validate })
  }
  if (failure !== undefined) throw failure
  return value
}
