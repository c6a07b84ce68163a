import type * as z from 'zod/mini'
import type { Operation } from '../../contract/operation.ts'

/** What one route reads of a body. Parsing as much must not hold up anybody else for long. */
export type BodyLimit = { kib: number; values: number }

/** Whoever sends it has shown nothing yet, or the cookie of a page that sends little. */
const small: BodyLimit = { kib: 32, values: 1_000 }
const usual: BodyLimit = { kib: 256, values: 10_000 }
/** Lists of a thousand rules. */
const lists: BodyLimit = { kib: 1_024, values: 50_000 }

/** A subject of 32 KiB, with room for its escapes and the frame of the protocol. The caller may be anonymous. */
export const toolCallLimit: BodyLimit = { kib: 128, values: 2_500 }

type Def = { type: string; innerType?: z.core.$ZodType; element?: z.core.$ZodType }

const isListOfObjects = (schema: z.core.$ZodType): boolean => {
  const { type, innerType, element } = schema._zod.def as Def
  if (innerType) return isListOfObjects(innerType)
  return type === 'array' && element !== undefined && element._zod.def.type === 'object'
}

export const bodyLimitOf = ({ open, session, input }: Operation): BodyLimit => {
  if (open || session) return small
  return Object.values(input._zod.def.shape).some((field) => isListOfObjects(field)) ? lists : usual
}
