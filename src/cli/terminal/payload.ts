import { SvcError, usageError } from '../../core/errors.ts'
import { shellQuote } from '../../core/shell-quote.ts'
import { isRecord } from '../../core/is-record.ts'
import { safeJson } from '../../core/safe-text.ts'

export type Shape = {
  /** Columns of a table and of TSV, in order; without it, the scalar fields of the first row. */
  columns?: readonly string[] | undefined
  /** Fields that an answer can have: one that is picked and absent is null. Without it, what is there can be picked. */
  known?: readonly string[] | undefined
  /** Fields with what is answered once and never again: left out of what is printed, they are lost. */
  once?: ReadonlySet<string>
  /** Fields that the table of a record leaves out; CSV and JSON have them. */
  folded?: readonly string[] | undefined
  /** Fields whose values are masked in a table on a terminal, at any depth. */
  masked?: ReadonlySet<string>
  /** JSON where nobody says how it is shown. */
  document?: boolean
  /** Rows that were shown before: a table goes on below them. */
  above?: readonly unknown[]
  /** The whole envelope, as with --envelope. */
  whole?: boolean
  /** Goes through a pager where it is longer than the terminal. */
  paged?: boolean
}

export type Envelope = { status: string; message: string; data?: unknown; [field: string]: unknown }
export type Row = Record<string, unknown>

/** Of an answer without data, all that is there: `{status, message}` and what a server adds to it. */
export const payloadOf = (envelope: Envelope, whole: boolean): unknown => {
  if (whole) return envelope
  if (envelope.data !== undefined && envelope.data !== null) return envelope.data
  const { data: _, ...rest } = envelope
  return rest
}

/** The rows of a payload: those of a list, or its one record. */
export const rowsOf = (payload: unknown): Row[] =>
  Array.isArray(payload) ? payload.filter(isRecord) : isRecord(payload) ? [payload] : []

export const fieldsOf = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap(Object.keys))]

/** The field of an answer that `-o id` prints. */
export const idOf = (fields: readonly string[]): string | undefined =>
  ['id', 'request_id', 'message_id'].find((name) => fields.includes(name))

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

type Picking = {
  /** Fields that the answer can have, whether or not a row has them. */
  known?: readonly string[] | undefined
  /** Is told of a field that no row has; without it, that is a usage error. */
  missing?(name: string): void
}

/** `--json a,b.c`: each row with these fields alone, under the names as typed; null where a row lacks one. */
export const pickFields = (
  payload: unknown,
  list: string | true,
  { known = [], missing }: Picking = {},
): unknown => {
  const rows = rowsOf(payload)
  const fields = [...new Set([...known, ...fieldsOf(rows)])]
  const named = list === true ? [] : namesIn(list)
  if (named.length === 0 && !missing) throw fieldsNeeded(fields)
  const names = named.length === 0 ? fields : named
  const isEmpty = Array.isArray(payload) && payload.length === 0
  for (const name of names) {
    const isKnown = isEmpty || known.includes(name) || rows.some((row) => valueAt(row, name) !== undefined)
    if (isKnown) continue
    if (!missing)
      throw usageError(
        `The answer has no field "${name}"`,
        rows.length === 0 ? 'Remove --json' : `--json ${shellQuote(fields.join(','))}`,
      )
    missing(name)
  }
  const pick = (row: Row): Row => Object.fromEntries(names.map((name) => [name, valueAt(row, name) ?? null]))
  return Array.isArray(payload) ? rows.map(pick) : pick(rows[0] ?? {})
}

/** `--json` without a name, as gh has it: the names there are. */
export const fieldsNeeded = (fields: readonly string[]): SvcError =>
  new SvcError('usage', 'usage', '--json requires the names of fields, separated by commas', {
    detail: fields.map((name) => `  ${name}`).join('\n'),
    hint:
      fields.length > 0 ? `--json ${shellQuote(fields.slice(0, 3).join(','))}` : '-o json shows all fields',
  })

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
