import { metaOf } from '../../contract/field.ts'
import { coreOf, type Schema } from '../../contract/schema.ts'

/** Whether a schema has a secret field, at any depth. */
const hasSecret = (schema: Schema): boolean => {
  const { shape = {}, element } = coreOf(schema)
  const inner = [...Object.values(shape), ...(element ? [element] : [])]
  return metaOf(schema)?.secret === true || inner.some(hasSecret)
}

const strip = (schema: Schema | undefined, value: unknown): unknown => {
  if (!schema || typeof value !== 'object' || value === null) return value
  const { shape, element } = coreOf(schema)
  if (Array.isArray(value)) return value.map((one) => strip(element, one))
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !shape?.[name] || !metaOf(shape[name])?.secret)
      .map(([name, inner]) => [name, strip(shape?.[name], inner)]),
  )
}

/** Compiled once an operation: its data as it is kept for repeats, without secrets and saying so. */
export const createSecretStripper = (schema: Schema | undefined) => {
  if (!schema || !hasSecret(schema)) return (data: unknown) => data
  return (data: unknown): unknown => ({ ...(strip(schema, data) as object), secret_already_shown: true })
}
