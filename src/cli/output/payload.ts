import { usageError } from '../../core/errors.ts'

export type Envelope = { status: string; message: string; data?: unknown; [field: string]: unknown }
export type Row = Record<string, unknown>

export const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Of an answer without data, all that is there: `{status, message}` and what a server adds to it. */
export const payloadOf = (envelope: Envelope, whole: boolean): unknown => {
  if (whole) return envelope
  if (envelope.data !== undefined && envelope.data !== null) return envelope.data
  const { data: _, ...rest } = envelope
  return rest
}

/** The rows of a payload: those of a list, or its one record. */
export const rowsOf = (payload: unknown): Row[] =>
  Array.isArray(payload) ? payload.filter(isRow) : isRow(payload) ? [payload] : []

export const fieldsOf = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap(Object.keys))]

/** `policy.factors` of a row: a field of that very name first, then down the dots. */
const valueAt = (value: unknown, path: string): unknown => {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, path)) return (value as Row)[path]
  const dot = path.indexOf('.')
  const head = path.slice(0, dot)
  return dot > 0 && Object.hasOwn(value, head)
    ? valueAt((value as Row)[head], path.slice(dot + 1))
    : undefined
}

export const namesIn = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

/** `--json a,b.c`: each row with these fields alone, under the names as typed; null where a row lacks one. */
export const pickFields = (payload: unknown, list: string): unknown => {
  const rows = rowsOf(payload)
  const names = namesIn(list)
  const isEmpty = Array.isArray(payload) && payload.length === 0
  const unknown = names.find((name) => !isEmpty && rows.every((row) => valueAt(row, name) === undefined))
  if (names.length === 0 || unknown !== undefined)
    throw usageError(
      names.length === 0 ? '--json wants the names of fields' : `The answer has no field "${unknown}"`,
      rows.length === 0 ? 'leave --json out' : `--json ${fieldsOf(rows).join(',')}`,
    )
  const pick = (row: Row): Row => Object.fromEntries(names.map((name) => [name, valueAt(row, name) ?? null]))
  return Array.isArray(payload) ? rows.map(pick) : pick(rows[0]!)
}
