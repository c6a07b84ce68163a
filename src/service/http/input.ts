import type { Context } from 'hono'
import { isId } from '../../contract/field.ts'
import { issuesOf, unknownField } from '../../contract/issues.ts'
import { type Operation, orgFields } from '../../contract/operation.ts'
import { pathNames } from '../../contract/path.ts'
import { coreOf, fieldSchemas } from '../../contract/schema.ts'
import type { Issue } from '../../core/errors.ts'
import { invalidFields } from '../../core/refusal.ts'
import { rowOfId } from '../call/row-ids.ts'
import { bodyLimitOf, readBody, refuseBody, refuseFields } from './body.ts'
import { createReturnedFields } from './returned-fields.ts'

type Fields = Record<string, unknown>

/** `fieldNames`: the names in the request. `returned`: read-only fields that an update sent back. */
export type ReadInput = { input: Fields; fieldNames: string[]; returned: Fields }

/** Converts text of the URL to the type of its field. Other text stays as it is and fails the check. */
const coerce = (text: string, type: string | undefined): unknown => {
  if (type === 'number' && /^-?(?:0|[1-9]\d{0,15})(?:\.\d{1,15})?$/.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

// The store would cut a text at NUL, and would return an unpaired surrogate as another character.
const badText = /\0|\p{Cs}/u

const badTexts = (value: unknown, field: string): Issue[] => {
  if (typeof value === 'string')
    return badText.test(value) ? [{ field, message: 'must not contain NUL or an unpaired surrogate' }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    badText.test(name)
      ? [
          {
            field: field || 'body',
            message: 'must not have a field name that contains NUL or an unpaired surrogate',
          },
        ]
      : badTexts(inner, Array.isArray(value) ? `${field}[${name}]` : field ? `${field}.${name}` : name),
  )
}

/** Compiled once for each operation: reads and checks its input. Throws a Refusal. */
export const createInputReader = (operation: Operation) => {
  const shape = fieldSchemas(operation.input)
  const known = Object.keys(shape)
  const types = Object.fromEntries(known.map((name) => [name, coreOf(shape[name]!).type]))
  const limit = bodyLimitOf(operation)
  const inPath = pathNames(operation.path)
  const inQuery = operation.method === 'GET' || operation.method === 'DELETE'
  const free = known.filter((name) => !inPath.includes(name))
  const textIds = known.filter((name) => isId(shape[name]!))
  const orgIds = known.filter((name) => orgFields.includes(name))

  /** A client can write any id as a number or as text. */
  const normalizeIds = (body: Fields): Fields => {
    const fields = { ...body }
    for (const name of textIds) if (Number.isSafeInteger(fields[name])) fields[name] = String(fields[name])
    for (const name of orgIds)
      if (typeof fields[name] === 'string') fields[name] = coerce(fields[name], types[name])
    return fields
  }

  const returnedFields = createReturnedFields(operation)
  // A mistyped filter would return too much, and a mistyped delete cannot be undone.
  const isStrict = (inQuery && free.length > 0) || operation.effect === 'delete'

  const readQuery = (context: Context): Fields => {
    if (!context.req.url.includes('?')) return {}
    const issues: Issue[] = []
    const fields: Fields = {}
    for (const [name, values] of Object.entries(context.req.queries())) {
      if (!isStrict && !known.includes(name)) continue
      if (!inQuery || !free.includes(name)) issues.push(unknownField(name, inQuery ? free : []))
      else if (values.length > 1) issues.push({ field: name, message: 'appears more than once' })
      else fields[name] = coerce(values[0]!, types[name])
    }
    if (issues.length > 0) throw invalidFields(issues)
    return fields
  }

  const readFields = async (context: Context): Promise<Fields> => {
    const query = readQuery(context)
    if (inQuery) {
      if (operation.method === 'DELETE') await refuseFields(context, limit)
      else refuseBody(context)
      return query
    }
    const { ...body } = await readBody(context, limit)
    const twice = inPath.filter((name) => Object.hasOwn(body, name))
    const other = twice.filter((name) => String(body[name]) !== context.req.param(name))
    if (other.length > 0)
      throw invalidFields(
        other.map((field) => ({ field, message: 'differs from the URL; leave it out of the body' })),
      )
    for (const name of twice) delete body[name]
    return normalizeIds(body)
  }

  const readInput = async (context: Context): Promise<ReadInput> => {
    const fields = await readFields(context)
    const returned = returnedFields.takeOut(fields)
    const fieldNames = Object.keys(fields)
    for (const name of inPath) fields[name] = coerce(context.req.param(name)!, types[name])
    const bad = badTexts({ ...returned, ...fields }, '')
    if (bad.length > 0) throw invalidFields(bad)
    const checked = operation.input.safeParse(fields)
    if (!checked.success) throw invalidFields(issuesOf(checked.error, operation.input, fields))
    const input = checked.data as Fields
    for (const name of textIds) if (input[name] !== undefined) input[name] = rowOfId(input[name] as string)
    return { input, fieldNames, returned }
  }

  return { readInput, checkReturned: returnedFields.check }
}
