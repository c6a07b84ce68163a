import type * as z from 'zod/mini'

// What a schema is made of. The types of zod do not say it of a schema that is known only as one; this is the one place
// that looks inside.

export type Schema = z.core.$ZodType
export type Shape = Record<string, Schema>

export type Parts = {
  /** `object`, `array`, `optional` … */
  type: string
  /** Of `optional`, `nullable`, a default: what it wraps. */
  innerType?: Schema
  element?: Schema
  shape?: Shape
  /** Of an enum. */
  entries?: Record<string, string>
  /** Of a union. */
  options?: Schema[]
  /** Of a literal. */
  values?: unknown[]
  format?: string
}

/** The parts of a schema itself: of an optional list, those of `optional`. */
export const partsOf = (schema: Schema): Parts => schema._zod.def as unknown as Parts

/** The parts of a schema behind `optional`, `nullable` and defaults. */
export const coreOf = (schema: Schema): Parts => {
  const parts = partsOf(schema)
  return parts.innerType ? coreOf(parts.innerType) : parts
}

/** The fields of an object, behind `optional` too; none of anything else. */
export const fieldSchemas = (schema: Schema | undefined): Shape => (schema && coreOf(schema).shape) ?? {}
