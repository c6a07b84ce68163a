import { Chalk, type ChalkInstance } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { isRecord } from '../../core/is-record.ts'
import { safeLine } from '../../core/safe-text.ts'
import { type Column, fit, gap, shownCell } from './columns.ts'
import { cellText, type Grid, type Row, type Shape } from './payload.ts'
import { holdsTime, inSeconds, relativeTime } from './relative-time.ts'

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

type Reading = { now?: Date | undefined; folded?: readonly string[] | undefined; texts?: Shape['texts'] }

const cell = (row: Row, field: string, { now, texts }: Reading): unknown => {
  const value = texts && Object.hasOwn(texts, field) ? texts[field]!(row[field], row) : row[field]
  if (typeof value === 'string') return now && holdsTime(field) ? relativeTime(value, now) : value
  return typeof value === 'object' && value !== null ? summary(value) : value
}

/** `{ keys: [{ id: 1 }] }` as `{ 'keys[0]': { id: 1 } }`, at any depth, so that each field gets a line. */
const unrolled = (row: Row, { now, folded = [], texts = {} }: Reading): Row =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]): [string, unknown][] => {
      // `gridOf` omits it by its name.
      if (folded.includes(name)) return [[name, value]]
      if (Object.hasOwn(texts, name)) return [[name, texts[name]!(value, row)]]
      if (isList(value)) return value.map((item, i) => [`${name}[${i}]`, unrolled(item, { now })])
      if (now && typeof value === 'string' && holdsTime(name)) return [[name, inSeconds(value)]]
      return [[name, isRecord(value) ? unrolled(value, { now }) : value]]
    }),
  )

/**
 * A payload for a table. The cells of a list summarize nested values. A record shows every nested field on its own line.
 * With `now`, the times of a list are relative, and those of a record have no milliseconds.
 */
export const readable = (payload: unknown, reading: Reading): unknown => {
  if (isRecord(payload)) return unrolled(payload, reading)
  if (!Array.isArray(payload)) return payload
  return payload.map((row: unknown) =>
    isRecord(row)
      ? Object.fromEntries(Object.keys(row).map((name) => [name, cell(row, name, reading)]))
      : row,
  )
}

/** Yellow: somebody or something has yet to act, or nothing can be told. */
const meanings = {
  green: 'active approved ok PASS sent serving',
  yellow: 'pending queued sending failing stopping INSUFFICIENT_DATA',
  red: 'denied expired FAIL FAILED failed dead stopped lost rejected removed revoked refused disputed',
}

const colourOf = new Map(
  Object.entries(meanings).flatMap(([colour, words]) =>
    words.split(' ').map((word) => [word, colour as keyof typeof meanings]),
  ),
)

/** A cell of a table: the state that a field of this name has, in the colour of what it means. */
const painted = (field: string, text: string, chalk: ChalkInstance): string => {
  const colour = /(?:^|[._])(?:status|state|result|verdict|answer|ok)$/.test(field) && colourOf.get(text)
  return colour ? chalk[colour](text) : text
}

/** The names of the border pieces of cli-table3, which are all empty except the gap between columns. */
const frame =
  'top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid'
const borderless = { ...Object.fromEntries(frame.split(' ').map((piece) => [piece, ''])), middle: gap }

const draw = (lines: string[][], columns: Column[], chalk: ChalkInstance): string[] => {
  const table = new Table({
    chars: borderless,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
    colWidths: columns.map(({ width }) => width),
    truncate: '…',
  })
  for (const line of lines) table.push(columns.map(({ at, name }) => painted(name, line[at]!, chalk)))
  return table.toString().split('\n')
}

/**
 * A table without borders, aligned by display width. A list is cut to the width of the terminal and never wrapped. A
 * record is never cut, because a new key would be useless without its end.
 */
export const drawTable = (grid: Grid, { width, colour }: { width: number; colour: boolean }): string => {
  const chalk = new Chalk({ level: colour ? 1 : 0 })
  const lines = grid.lines.map((line) => line.map(shownCell))
  if (!grid.head) {
    const names = lines.reduce(
      (most, [name, value]) => (value === undefined ? most : Math.max(most, stringWidth(name!))),
      0,
    )
    return lines
      .map(([name, value]) => {
        if (value === undefined) return name
        return chalk.dim(name) + ' '.repeat(names - stringWidth(name!)) + gap + painted(name!, value, chalk)
      })
      .join('\n')
  }
  const all = [grid.head.map((name) => safeLine(name.toUpperCase())), ...lines]
  const [head, ...body] = draw(all, fit(grid, width), chalk).map((line) => line.trimEnd())
  return [chalk.dim(head), ...body].join('\n')
}
