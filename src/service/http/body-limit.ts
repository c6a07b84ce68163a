import type { Operation } from '../../contract/operation.ts'
import { coreOf, fieldSchemas, partsOf, type Schema } from '../../contract/schema.ts'

/** What one route reads of a body. Parsing as much must not hold up anybody else for long. */
export type BodyLimit = { kib: number; values: number }

/** Whoever sends it has shown nothing yet, or the cookie of a page that sends little. */
const small: BodyLimit = { kib: 32, values: 1_000 }
const usual: BodyLimit = { kib: 256, values: 10_000 }
/** Lists of a thousand rules. */
const lists: BodyLimit = { kib: 1_024, values: 50_000 }

/** A subject of 32 KiB, with room for its escapes and the frame of the protocol. The caller may be anonymous. */
export const toolCallLimit: BodyLimit = { kib: 128, values: 2_500 }

const isListOfObjects = (schema: Schema): boolean => {
  const { element } = coreOf(schema)
  return element !== undefined && partsOf(element).type === 'object'
}

export const bodyLimitOf = ({ open, session, input }: Operation): BodyLimit => {
  if (open || session) return small
  return Object.values(fieldSchemas(input)).some(isListOfObjects) ? lists : usual
}
