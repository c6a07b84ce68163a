import { isRecord } from '../../core/is-record.ts'
import { safeJson } from '../../core/safe-text.ts'

export type Shape = {
  /** Columns of tables and TSV, in order; by default the scalar fields of the first row. */
  columns?: readonly string[] | undefined
  /** Columns that a narrow terminal leaves out, the first one first. */
  wide?: readonly string[] | undefined
  /** Fields that an answer can have: the head of a CSV without rows. */
  known?: readonly string[] | undefined
  /** Secret fields that the service returns only once: if they are not printed, they are lost. */
  once?: ReadonlySet<string>
  /** Fields that a table omits; every other format contains them. */
  folded?: readonly string[] | undefined
  /** The text of a field in the table of a list; every other format has its data. */
  texts?: Readonly<Record<string, (value: unknown, row: Row) => string>> | undefined
  /** Fields whose values are masked in a table on a terminal, at any depth. */
  masked?: ReadonlySet<string>
  /** JSON by default. */
  document?: boolean
  /** The whole envelope, not only its data. */
  whole?: boolean
}

export type Envelope = { status: string; message: string; data?: unknown; [field: string]: unknown }
export type Row = Record<string, unknown>

/** The data of an answer; without data, `{status, message}` and any additional fields. */
export const payloadOf = (envelope: Envelope, whole: boolean): unknown => {
  if (whole) return envelope
  if (envelope.data !== undefined && envelope.data !== null) return envelope.data
  const { data: _, ...rest } = envelope
  return rest
}

/** The rows of a list, or a single record. */
export const rowsOf = (payload: unknown): Row[] =>
  Array.isArray(payload) ? payload.filter(isRecord) : isRecord(payload) ? [payload] : []

export const fieldsOf = (rows: readonly Row[]): string[] => [...new Set(rows.flatMap(Object.keys))]

/** The field of an answer that `-o id` prints. */
export const idOf = (fields: readonly string[]): string | undefined =>
  ['id', 'request_id', 'message_id', 'webhook_id', 'mute_id', 'user_id'].find((name) => fields.includes(name))

/** A payload as lines of cells. Has a `head` only if each line is a row, not a field of a record. */
export type Grid = { head?: string[]; lines: string[][] }

/** Empty for null and absent, joined for a list of plain values, compact JSON for anything nested. */
export const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map(cellText).join(', ')
  return typeof value === 'object' ? safeJson(value) : String(value)
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** The declared columns or, if a service returns none of them, the fields of its first row. */
const columnsOf = (payload: unknown[], shape: Shape, all: boolean): string[] => {
  const rows = rowsOf(payload)
  const fields = fieldsOf(rows)
  if (all) return fields
  if (shape.columns?.some((name) => fields.includes(name)))
    return shape.columns.flatMap((name) =>
      name === 'mobile_e164' && !fields.includes(name) ? ['country_code', 'mobile'] : name,
    )
  const scalars = Object.entries(rows[0] ?? {}).filter(([, value]) => isScalar(value))
  return scalars.length > 0 ? scalars.map(([name]) => name) : fields
}

/** A record with one line per field; nested fields are named like `policy.factors`. */
const linesOf = (row: Row, above = ''): string[][] =>
  Object.entries(row).flatMap(([name, value]) =>
    isRecord(value) && Object.keys(value).length > 0
      ? linesOf(value, `${above}${name}.`)
      : [[above + name, cellText(value)]],
  )

/** One line per row of a list or per field of a record; anything else is one cell. `all` makes every field a column. */
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
