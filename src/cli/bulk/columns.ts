import { fieldsOf } from '../../contract/describe.ts'
import type { Field } from '../../contract/operation.ts'
import type { Issue } from '../../core/errors.ts'
import { nearest } from '../../core/nearest.ts'
import type { Fields, Kind } from './kind.ts'

/** `E-Mail Address` -> `e_mail_address`. */
const plain = (name: string): string =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')

/** The column that a name in a file means; undefined when it is none. */
export const columnOf = (kind: Kind, name: string): string | undefined => {
  const word = plain(name)
  if (kind.columns.includes(word)) return word
  return Object.hasOwn(kind.aliases, word) ? kind.aliases[word] : undefined
}

/** The columns that every row must have. */
export const requiredColumns = (kind: Kind): string[] => {
  const required = new Set(fieldsOf(kind.create).flatMap(({ name, required: must }) => (must ? [name] : [])))
  return kind.columns.filter((name) => required.has(name) && !(name in kind.defaults))
}

/** A name that is no column, with the one that was perhaps meant. */
export const unknownColumn = (kind: Kind, name: string): Issue => {
  const meant = nearest(plain(name), [...kind.columns, ...Object.keys(kind.aliases)])
  return {
    field: name.length > 80 ? `${name.slice(0, 80)}…` : name || 'a column without a name',
    message: meant
      ? `is not a column; did you mean ${meant}?`
      : `is not a column; the columns are ${kind.columns.join(', ')}`,
  }
}

const truths: Record<string, number> = { true: 1, yes: 1, false: 0, no: 0 }

/** What a cell or a JSON value says, as the type of its column; what does not look like it stays and fails its check. */
const typed = ({ kind, choices }: Field, value: unknown): unknown => {
  if (kind === 'list') return typeof value === 'string' ? value.split(/[,;|\s]+/).filter(Boolean) : value
  if (kind === 'integer' || kind === 'number') {
    const text = String(value).trim()
    const truth = choices.length > 0 ? truths[text.toLowerCase()] : undefined
    if (truth !== undefined) return truth
    return typeof value === 'string' && /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : value
  }
  return typeof value === 'number' ? String(value) : value
}

/** The columns of a row with the types that the table gives them; what is empty counts as not given. */
export const typeFields = (kind: Kind): ((fields: Fields) => Fields) => {
  const byName = new Map(fieldsOf(kind.create).map((field) => [field.name, field]))
  return (fields) => {
    const out: Fields = { ...kind.defaults }
    for (const [name, value] of Object.entries(fields))
      if (value !== null && value !== undefined && value !== '') out[name] = typed(byName.get(name)!, value)
    return out
  }
}
