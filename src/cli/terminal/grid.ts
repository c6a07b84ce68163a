import { safeJson } from '../../core/safe-text.ts'
import type { Shape } from './output.ts'
import { fieldsOf, rowsOf, type Row } from './payload.ts'
import { isRecord } from '../../core/is-record.ts'

/** A payload as lines of cells. `head` only where each line is a row and not a field of the one record. */
export type Grid = { head?: string[]; lines: string[][] }

/** Null and absent are empty; a list of plain values is joined; what nests deeper is compact JSON. */
export const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map(cellText).join(', ')
  return typeof value === 'object' ? safeJson(value) : String(value)
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** The columns that were declared, unless a server answers none of them: then what its first row holds. */
const columnsOf = (payload: unknown[], shape: Shape, all: boolean): string[] => {
  const rows = rowsOf(payload)
  const fields = fieldsOf(rows)
  if (all) return fields
  if (shape.columns?.some((name) => fields.includes(name))) return [...shape.columns]
  const scalars = Object.entries(rows[0] ?? {}).filter(([, value]) => isScalar(value))
  return scalars.length > 0 ? scalars.map(([name]) => name) : fields
}

/** A record, a line a field; what is inside a field follows as `policy.factors`. */
const linesOf = (row: Row, above = ''): string[][] =>
  Object.entries(row).flatMap(([name, value]) =>
    isRecord(value) && Object.keys(value).length > 0
      ? linesOf(value, `${above}${name}.`)
      : [[above + name, cellText(value)]],
  )

/** A list is a line a row, a record a line a field, anything else one cell. `all`: every field is a column. */
export const gridOf = (payload: unknown, shape: Shape, all = false): Grid => {
  if (Array.isArray(payload)) {
    if (!payload.every(isRecord)) return { lines: payload.map((item) => [cellText(item)]) }
    const head = columnsOf(payload, shape, all)
    return {
      head,
      lines: payload.map((row) => head.map((name) => (Object.hasOwn(row, name) ? cellText(row[name]) : ''))),
    }
  }
  if (isRecord(payload)) {
    const lines = Object.entries(payload).filter(([name]) => !shape.folded?.includes(name))
    return { lines: linesOf(Object.fromEntries(lines)) }
  }
  return { lines: [[cellText(payload)]] }
}
