import type { Context } from 'hono'
import * as z from 'zod/mini'
import { issuesOf, unknownField } from '../../contract/issues.ts'
import { type Operation, orgFields } from '../../contract/operation.ts'
import { pathNames } from '../../contract/path.ts'
import { coreOf, fieldSchemas, partsOf, type Schema } from '../../contract/schema.ts'
import type { Issue } from '../../core/errors.ts'
import { isRecord } from '../../core/is-record.ts'
import { invalidFields } from '../../core/refusal.ts'
import { createIdDecoder, createIdEncoder } from '../call/row-ids.ts'
import { bodyLimitOf, readBody, refuseBody, refuseFields } from './body.ts'

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
const bad = 'NUL or an unpaired surrogate'

const badTexts = (value: unknown, field: string): Issue[] => {
  if (typeof value === 'string')
    return badText.test(value) ? [{ field, message: `must not contain ${bad}` }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    badText.test(name)
      ? [{ field: field || 'body', message: `must not have a field name that contains ${bad}` }]
      : badTexts(inner, Array.isArray(value) ? `${field}[${name}]` : field ? `${field}.${name}` : name),
  )
}

/** Each write sets it, so a value that was read before can never be equal. */
const setByEachWrite = 'updated_at'

const isScalar = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number'

/** A client may send an id as text or as a number. */
const isSame = (returned: unknown, present: unknown): boolean => {
  if (isRecord(returned) && isRecord(present))
    return Object.keys({ ...returned, ...present }).every(
      (name) => name === setByEachWrite || isSame(returned[name], present[name]),
    )
  if (Array.isArray(returned) && Array.isArray(present))
    return returned.length === present.length && returned.every((one, i) => isSame(one, present[i]))
  if (isScalar(returned) && isScalar(present)) return String(returned) === String(present)
  return returned === present
}

const isOmittable = (field: Schema | undefined): boolean =>
  field !== undefined && partsOf(field).type === 'optional'

/**
 * An update accepts the record that a read returned: fields that it cannot set may be sent back unchanged. The record is
 * the `data` of the operation in the table.
 */
const createReturnedFields = ({ method, updates = method === 'PUT', data, input }: Operation) => {
  const record = updates ? fieldSchemas(data) : {}
  const writable = fieldSchemas(input)

  /** A record shows a field without a value as `null` or empty text; no update sets that. */
  const isReturned = (name: string, value: unknown): boolean => {
    if (!Object.hasOwn(record, name)) return false
    if (!Object.hasOwn(writable, name)) return true
    const isBlank = value === null || value === ''
    return isBlank && isOmittable(writable[name]) && !z.safeParse(writable[name]!, value).success
  }

  const wrong = (field: string): string =>
    Object.hasOwn(writable, field)
      ? 'cannot be cleared; leave it out, or set a value'
      : 'is read-only and differs from the record; leave it out'

  return {
    /** Takes these fields out of a body. */
    takeOut: (body: Fields): Fields => {
      const returned = Object.entries(body).filter(([name, value]) => isReturned(name, value))
      for (const [name] of returned) delete body[name]
      return Object.fromEntries(returned)
    },
    /** Compares them with the record as it is now; 422 for those that are not the same. */
    check: (returned: Fields, now: unknown): void => {
      const present = isRecord(now) ? now : {}
      const issues = Object.keys(returned)
        .filter((name) => name !== setByEachWrite && !isSame(returned[name], present[name]))
        .map((field): Issue => ({ field, message: wrong(field) }))
      if (issues.length > 0) throw invalidFields(issues)
    },
  }
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
  const withTextIds = createIdEncoder(operation.input)
  const withRowNumbers = createIdDecoder(operation.input)
  const orgIds = known.filter((name) => orgFields.includes(name))

  const normalizeIds = (body: Fields): Fields => {
    const fields = { ...(withTextIds(body) as Fields) }
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
    const unreadable = badTexts({ ...returned, ...fields }, '')
    if (unreadable.length > 0) throw invalidFields(unreadable)
    const checked = operation.input.safeParse(fields)
    if (!checked.success) throw invalidFields(issuesOf(checked.error, operation.input, fields))
    return { input: withRowNumbers(checked.data) as Fields, fieldNames, returned }
  }

  return { readInput, checkReturned: returnedFields.check }
}
