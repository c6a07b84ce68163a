import type * as z from 'zod/mini'
import { isId } from '../../contract/field.ts'
import { coreOf, type Schema } from '../../contract/schema.ts'
import type { OperationId, Table } from '../../contract/table.ts'

// The API shows ids as text; the store and the handlers use row numbers. Only this file converts between the two.

/** A type of the contract, with a row number instead of each text id. */
export type Numbered<T> =
  T extends z.core.$brand<'id'> ? number : T extends object ? { [K in keyof T]: Numbered<T[K]> } : T

/** The input of an operation, as its handler receives it. */
export type RowInput<Id extends OperationId> = Numbered<z.output<Table[Id]['input']>>
/** The data of an operation, as its handler returns it. */
export type RowData<Id extends OperationId> = Table[Id] extends { data: infer D extends z.ZodMiniType }
  ? Numbered<z.output<D>>
  : undefined

/** No row has this number. */
const absent = 0

/** The row number of an id. An id that this service cannot have assigned finds no row. */
export const rowOfId = (id: string): number => (/^[1-9]\d{0,14}$/.test(id) ? Number(id) : absent)

type Fields = Record<string, unknown>
type Convert = (value: unknown) => unknown

const converterOf = (schema: Schema, convert: Convert): Convert | undefined => {
  if (isId(schema)) return (value) => (value === undefined ? value : convert(value))
  const { element, shape = {} } = coreOf(schema)
  if (element) {
    const each = converterOf(element, convert)
    return each && ((value) => (Array.isArray(value) ? value.map(each) : value))
  }
  const members = Object.entries(shape).flatMap(([name, field]) => {
    const one = converterOf(field, convert)
    return one ? [[name, one] as const] : []
  })
  if (members.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const fields: Fields = { ...value }
    for (const [name, one] of members) if (name in fields) fields[name] = one(fields[name])
    return fields
  }
}

/** A client can write any id as a number or as text. */
const toText: Convert = (id) => (Number.isSafeInteger(id) ? String(id) : id)

const idConverter = (schema: Schema | undefined, convert: Convert): Convert =>
  (schema && converterOf(schema, convert)) ?? ((value) => value)

/** Compiled once for each operation: converts the ids of its input or its data to text. */
export const createIdEncoder = (schema: Schema | undefined): Convert => idConverter(schema, toText)

/** Compiled once for each operation: converts the ids of its checked input to row numbers. */
export const createIdDecoder = (schema: Schema): Convert => idConverter(schema, (id) => rowOfId(id as string))
