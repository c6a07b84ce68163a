import type * as z from 'zod/mini'

// The structure of a schema. The types of zod hide it; only this file reads it.

export type Schema = z.core.$ZodType
export type Shape = Record<string, Schema>

export type SchemaParts = {
  /** `object`, `array`, `optional` … */
  type: string
  /** The wrapped schema of `optional`, `nullable` or a default. */
  innerType?: Schema
  element?: Schema
  shape?: Shape
  /** For an enum. */
  entries?: Record<string, string>
  /** For a union. */
  options?: Schema[]
  /** For a literal. */
  values?: unknown[]
  format?: string
}

/** The parts of a schema itself: for an optional list, those of `optional`. */
export const partsOf = (schema: Schema): SchemaParts => schema._zod.def as unknown as SchemaParts

/** The parts of a schema behind `optional`, `nullable` and defaults. */
export const coreOf = (schema: Schema): SchemaParts => {
  const parts = partsOf(schema)
  return parts.innerType ? coreOf(parts.innerType) : parts
}

/** The fields of an object, also behind `optional`; none for other schemas. */
export const fieldSchemas = (schema: Schema | undefined): Shape => (schema && coreOf(schema).shape) ?? {}
