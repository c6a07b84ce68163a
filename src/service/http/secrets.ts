import type * as z from 'zod/mini'
import { metaOf } from '../../contract/field.ts'

type Def = {
  shape?: Record<string, z.core.$ZodType>
  element?: z.core.$ZodType
  innerType?: z.core.$ZodType
}

const defOf = (schema: z.core.$ZodType): Def => schema._zod.def as Def

/** Whether a schema has a secret field, at any depth. */
const hasSecret = (schema: z.core.$ZodType): boolean => {
  const { shape, element, innerType } = defOf(schema)
  const inner = [element, innerType].filter((one) => one !== undefined)
  return (
    metaOf(schema)?.secret === true || inner.some(hasSecret) || Object.values(shape ?? {}).some(hasSecret)
  )
}

const strip = (schema: z.core.$ZodType | undefined, value: unknown): unknown => {
  if (!schema || typeof value !== 'object' || value === null) return value
  const { shape, element, innerType } = defOf(schema)
  if (innerType) return strip(innerType, value)
  if (Array.isArray(value)) return value.map((one) => strip(element, one))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !shape?.[name] || !metaOf(shape[name])?.secret)
      .map(([name, inner]) => [name, strip(shape?.[name], inner)]),
  )
}

/** Compiled once an operation: its data as it is kept for repeats, without secrets and saying so. */
export const createSecretStripper = (schema: z.core.$ZodType | undefined) => {
  if (!schema || !hasSecret(schema)) return (data: unknown) => data
  return (data: unknown): unknown => ({ ...(strip(schema, data) as object), secret_already_shown: true })
}
