import type * as z from 'zod/mini'
import { isId } from '../../contract/field.ts'
import type { Operation } from '../../contract/operation.ts'
import { coreOf, type Schema } from '../../contract/schema.ts'

// The API shows ids as text; the store and the handlers use row numbers. Only this file converts between the two.

/** A type of the contract, with a row number instead of each text id. */
export type Numbered<T> =
  T extends z.core.$brand<'id'> ? number : T extends object ? { [K in keyof T]: Numbered<T[K]> } : T

/** The input of an operation, as its handler receives it. */
export type RowInput<O extends Operation> = Numbered<z.output<O['input']>>
/** The data of an operation, as its handler returns it. */
export type RowData<O extends Operation> = O['data'] extends z.ZodMiniType
  ? Numbered<z.output<O['data']>>
  : undefined

/** No row has this number. */
const absent = 0

/** The row number of an id. An id that this service cannot have assigned finds no row. */
export const rowOfId = (id: string): number => (/^[1-9]\d{0,14}$/.test(id) ? Number(id) : absent)

type Fields = Record<string, unknown>
type Encoder = (value: unknown) => unknown

const encoderOf = (schema: Schema): Encoder | undefined => {
  if (isId(schema)) return (value) => (typeof value === 'number' ? String(value) : value)
  const { element, shape = {} } = coreOf(schema)
  if (element) {
    const encode = encoderOf(element)
    return encode && ((value) => (Array.isArray(value) ? value.map(encode) : value))
  }
  const encoders = Object.entries(shape).flatMap(([name, field]) => {
    const encode = encoderOf(field)
    return encode ? [[name, encode] as const] : []
  })
  if (encoders.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const fields: Fields = { ...value }
    for (const [name, encode] of encoders) if (name in fields) fields[name] = encode(fields[name])
    return fields
  }
}

/** Compiled once for each operation: converts the ids of its data to text. */
export const createIdEncoder = (schema: Schema | undefined): Encoder =>
  (schema && encoderOf(schema)) ?? ((data) => data)
