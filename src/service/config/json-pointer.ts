import * as z from 'zod/mini'
import { line } from '../../contract/field.ts'

/** A JSON pointer (RFC 6901); not the empty one, which means the whole document. */
export const jsonPointer = line(200).check(
  z.regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'must be a JSON pointer such as /messages/0/id'),
)

/** The value at a JSON pointer, if there is one. */
export const atPointer = (json: unknown, pointer: string): unknown => {
  let value = json
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}
