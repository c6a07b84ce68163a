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

/** Beyond this a date says more. */
const mostDays = 30

const words = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

export const isTime = (text: string): boolean => time.test(text)

/** Fields that hold a time: `at`, `created_at`, `as_of`. */
export const holdsTime = (field: string): boolean => /(?:^|_)(?:at|of)$/.test(field)

/** A time as a person says it: `3 minutes ago`, `in 2 hours`, `2030-01-31`. What is no time is left as it is. */
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

/** What a row is called: by a person first, by a number last. */
const nameOf = (row: Row): string | undefined => {
  const field = ['name', 'label', 'slug', 'factor', 'field', 'id'].find((name) => cellText(row[name]) !== '')
  return field && cellText(row[field])
}

/** What nests, in one cell: `device_trust=true, factors=biometric+location`, or the names of its rows. */
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

/** `{ keys: [{ id: 1 }] }` as `{ 'keys[0]': { id: 1 } }`: a line a field, at any depth. */
const unrolled = (row: Row, folded: readonly string[] = []): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
      // The table leaves it out by its name.
      if (folded.includes(name)) return [[name, value]]
      if (isList(value)) return value.map((item, i) => [`${name}[${i}]`, unrolled(item)])
      return [[name, isRecord(value) ? unrolled(value) : value]]
    }),
  )

/**
 * A payload for a table: in a list, a cell sums up what nests and says how long ago a time was, if it is told what time
 * it is; a record shows all that nests, a line a field, and times as they are.
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

/** Columns that are of no use when cut: what a person copies into the next command, and times to the second. */
const isKept = (name: string, cells: readonly string[]): boolean =>
  /^(?:.+_)?id$|^prefix$/.test(name) ||
  (cells.some(isTime) && cells.every((cell) => cell === '-' || isTime(cell)))

/** What is left of a column that is cut. */
const least = 3

type Column = { at: number; width: number; kept: boolean }

const widthOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + gap.length + width, -gap.length)

/**
 * The columns that fit into `room`: the widest gives first, but one that is kept is not cut as long as it fits at all.
 * Where there is no room for every column, the last ones are left out, those that are kept after all others.
 */
const fit = (natural: readonly Column[], room: number): Column[] => {
  let columns = natural.map((column) => ({ ...column, width: Math.min(column.width, room) }))
  const leastOf = ({ kept, width }: Column): number => (kept ? width : Math.min(width, least))
  while (columns.length > 1 && widthOf(columns.map(leastOf)) > room) {
    const last = columns.findLast(({ kept }) => !kept) ?? columns.at(-1)
    columns = columns.filter((column) => column !== last)
  }
  for (let over = widthOf(columns.map(({ width }) => width)) - room; over > 0; over--) {
    const able = columns.filter((column) => column.width > leastOf(column))
    able.reduce((widest, column) => (column.width > widest.width ? column : widest)).width -= 1
  }
  return columns
}

/** The names that cli-table3 gives to the pieces of its frame; all but the gap between columns stay away. */
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
 * A table without borders, for people: aligned by display width, a list cut to the width of the terminal and never
 * wrapped. A record is never cut: a new key that lost its end would be lost.
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
    kept: isKept(
      name,
      lines.map((line) => line[at]!),
    ),
  }))
  const [head, ...body] = draw(all, fit(natural, width)).map((line) => line.trimEnd())
  return [chalk.dim(head), ...body].join('\n')
}
