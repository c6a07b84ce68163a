import { fieldsOf } from '../../contract/describe.ts'
import type { Field } from '../../contract/operation.ts'
import type { Issue } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import type { Fields, Kind } from './kind.ts'

/** `E-Mail Address` -> `e_mail_address`. */
const normalize = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')

/** The column for a name in a file; undefined if there is none. */
export const columnOf = ({ columns, aliases }: Kind, name: string): string | undefined => {
  const word = normalize(name)
  return columns.find((column) => column === word || aliases[column]?.includes(word))
}

/** The columns that every row must have. */
export const requiredColumns = (kind: Kind): string[] => {
  const required = new Set(fieldsOf(kind.create).flatMap(({ name, required: must }) => (must ? [name] : [])))
  return kind.columns.filter((name) => required.has(name) && !(name in kind.defaults))
}

/** The error for an unknown column, with the most similar one. */
export const unknownColumn = (kind: Kind, name: string): Issue => {
  const meant = nearest(normalize(name), [...kind.columns, ...Object.values(kind.aliases).flat()])
  return {
    field: name.length > 80 ? `${name.slice(0, 80)}…` : name || 'a column without a name',
    message: meant
      ? `is not a column; did you mean ${meant}?`
      : `is not a column; the columns are ${kind.columns.join(', ')}`,
  }
}

const truths: Record<string, number> = { true: 1, yes: 1, false: 0, no: 0 }

/** Converts a value to the type of its column. A value that does not fit stays as it is, and its check fails. */
const convert = ({ kind, choices }: Field, value: unknown): unknown => {
  if (kind === 'list') return typeof value === 'string' ? value.split(/[,;|\s]+/).filter(Boolean) : value
  if (kind === 'integer' || kind === 'number') {
    const text = String(value).trim()
    const truth = choices.length > 0 ? truths[text.toLowerCase()] : undefined
    if (truth !== undefined) return truth
    return typeof value === 'string' && /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : value
  }
  return typeof value === 'number' ? String(value) : value
}

/** Converts the fields of a row to the types in the contract. Empty fields count as missing. */
export const createConverter = (kind: Kind): ((fields: Fields) => Fields) => {
  const byName = new Map(fieldsOf(kind.create).map((field) => [field.name, field]))
  return (fields) => {
    const out: Fields = { ...kind.defaults }
    for (const [name, value] of Object.entries(fields))
      if (value !== null && value !== undefined && value !== '') out[name] = convert(byName.get(name)!, value)
    return out
  }
}
