import { Chalk } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { safeLine } from '../../core/safe-text.ts'
import { isRecord } from '../../core/is-record.ts'
import { cellText, type Grid, type Row } from './payload.ts'

const units: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

/** Older times are shown as dates. */
const mostDays = 30

const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

export const isTime = (text: string): boolean => time.test(text)

/** Whether a field contains a time: `at`, `created_at`, `as_of`, `failing_since`. */
export const holdsTime = (field: string): boolean => /(?:^|_)(?:at|of|since)$/.test(field)

/** A relative time: `3 minutes ago`, `in 2 hours`, or `2030-01-31`. Returns text that is not a time unchanged. */
export const relativeTime = (text: string, now: Date): string => {
  if (!isTime(text)) return text
  const seconds = (Date.parse(text) - now.getTime()) / 1000
  const size = Math.abs(seconds)
  if (Number.isNaN(size)) return text
  if (size >= mostDays * 86_400) return text.slice(0, 10)
  const [unit, length] = units.find(([, least]) => size >= least) ?? []
  if (unit === undefined || length === undefined) return seconds > 0 ? 'in less than a minute' : 'just now'
  return words.format(Math.trunc(seconds / length), unit)
}

const isList = (value: unknown): value is Row[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord)

/** The name of a row; its id only if it has no better one. */
const nameOf = (row: Row): string | undefined => {
  const field = ['name', 'label', 'slug', 'factor', 'field', 'id'].find((name) => cellText(row[name]) !== '')
  return field && cellText(row[field])
}

/** A nested value in one cell: `device_trust=true, factors=biometric+location`, or the names of its rows. */
const summary = (value: unknown): string => {
  if (Array.isArray(value)) {
    const names = value.map((item) => (isRecord(item) ? nameOf(item) : summary(item)))
    if (names.every((name) => name !== undefined)) return names.join(', ')
    return value.length === 1 ? '1 item' : `${value.length} items`
  }
  if (!isRecord(value)) return cellText(value)
  return Object.entries(value)
    .map(([name, inner]) => `${name}=${Array.isArray(inner) ? inner.map(summary).join('+') : summary(inner)}`)
    .join(', ')
}

const cell = (field: string, value: unknown, now: Date | undefined): unknown => {
  if (typeof value === 'string') return now && holdsTime(field) ? relativeTime(value, now) : value
  const nests = (isRecord(value) && Object.keys(value).length > 0) || isList(value)
  return nests ? summary(value) : value
}

/** `{ keys: [{ id: 1 }] }` as `{ 'keys[0]': { id: 1 } }`, at any depth, so that each field gets a line. */
const unrolled = (row: Row, folded: readonly string[] = []): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
      // `gridOf` omits it by its name.
      if (folded.includes(name)) return [[name, value]]
      if (isList(value)) return value.map((item, i) => [`${name}[${i}]`, unrolled(item)])
      return [[name, isRecord(value) ? unrolled(value) : value]]
    }),
  )

/**
 * A payload for a table. The cells of a list summarize nested values and, with `now`, show relative times. A record
 * shows every nested field on its own line, and times unchanged.
 */
export const readable = (
  payload: unknown,
  { now, folded }: { now?: Date | undefined; folded?: readonly string[] | undefined },
): unknown => {
  if (isRecord(payload)) return unrolled(payload, folded)
  if (!Array.isArray(payload)) return payload
  return payload.map((row: unknown) =>
    isRecord(row)
      ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cell(name, value, now)]))
      : row,
  )
}

const gap = '  '

/** Whether a column is useless when cut: ids that a person copies into the next command, types of events, and times. */
const isKept = (name: string, cells: readonly string[]): boolean =>
  /^(?:.+_)?id$|^prefix$|^type$/.test(name) ||
  (cells.some(isTime) && cells.every((cell) => cell === '-' || isTime(cell)))

/** The minimum width of a column that is cut. */
const least = 3

/** A word of at most this width, such as a state, is cut last. */
const word = 8

/** `content`: the width without the head. */
type Column = { at: number; width: number; content: number; kept: boolean }

const widthOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + gap.length + width, -gap.length)

/**
 * The columns that fit into `room`. Cuts only heads if that is enough, and otherwise the widest
 * column, but no kept column that fits by itself. If
 * there is not enough room, it drops columns from the end, and kept ones last.
 */
const fit = (natural: readonly Column[], room: number): Column[] => {
  let columns = natural.map((column) => ({ ...column, width: Math.min(column.width, room) }))
  const minimumWidth = ({ kept, width }: Column): number => (kept ? width : Math.min(width, least))
  while (columns.length > 1 && widthOf(columns.map(minimumWidth)) > room) {
    const last = columns.findLast(({ kept }) => !kept) ?? columns.at(-1)
    columns = columns.filter((column) => column !== last)
  }
  const excess = widthOf(columns.map(({ width }) => width)) - room
  const spare = columns.reduce(
    (sum, { kept, width, content }) => sum + (kept ? 0 : Math.max(0, width - Math.max(content, least))),
    0,
  )
  for (let over = excess; over > 0; over--) {
    const cuttable = columns.filter((column) => column.width > minimumWidth(column))
    const heads = spare < excess ? [] : cuttable.filter(({ width, content }) => width > content)
    const texts = cuttable.filter(({ width }) => width > word)
    const able = [heads, texts, cuttable].find((some) => some.length > 0)!
    able.reduce((widest, column) => (column.width > widest.width ? column : widest)).width -= 1
  }
  return columns
}

/** The names of the border pieces of cli-table3, which are all empty except the gap between columns. */
const frame =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
const borderless = { ...Object.fromEntries(frame.split(' ').map((piece) => [piece, ''])), middle: gap }

const draw = (lines: string[][], columns: Column[]): string[] => {
  const table = new Table({
    chars: borderless,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colWidths: columns.map(({ width }) => width),
    truncate: '…',
  })
  for (const line of lines) table.push(columns.map(({ at }) => line[at]!))
  return table.toString().split('\n')
}

/**
 * A table without borders, aligned by display width. A list is cut to the width of the terminal and never wrapped. A
 * record is never cut, because a new key would be useless without its end.
 */
export const drawTable = (grid: Grid, { width, colour }: { width: number; colour: boolean }): string => {
  const chalk = new Chalk({ level: colour ? 1 : 0 })
  const lines = grid.lines.map((line) => line.map((text) => (text === '' ? '-' : safeLine(text))))
  if (!grid.head) {
    const names = lines.reduce(
      (most, [name, value]) => (value === undefined ? most : Math.max(most, stringWidth(name!))),
      0,
    )
    return lines
      .map(([name, value]) => {
        if (value === undefined) return name
        return chalk.dim(name) + ' '.repeat(names - stringWidth(name!)) + gap + value
      })
      .join('\n')
  }
  const all = [grid.head.map((name) => safeLine(name.toUpperCase())), ...lines]
  const natural = grid.head.map((name, at) => ({
    at,
    width: Math.max(1, ...all.map((line) => stringWidth(line[at]!))),
    content: Math.max(1, ...lines.map((line) => stringWidth(line[at]!))),
    kept: isKept(
      name,
      lines.map((line) => line[at]!),
    ),
  }))
  const [head, ...body] = draw(all, fit(natural, width)).map((line) => line.trimEnd())
  return [chalk.dim(head), ...body].join('\n')
}
