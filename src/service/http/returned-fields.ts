import * as z from 'zod/mini'
import type { Operation } from '../../contract/operation.ts'
import { fieldSchemas, partsOf, type Schema } from '../../contract/schema.ts'
import type { Issue } from '../../core/errors.ts'
import { invalidFields } from '../../core/refusal.ts'
import { isRecord } from '../../core/is-record.ts'

type Fields = Record<string, unknown>

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
export const createReturnedFields = ({ method, updates = method === 'PUT', data, input }: Operation) => {
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
