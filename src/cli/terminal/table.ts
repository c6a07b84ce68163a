import { Chalk } from 'chalk'
import Table from 'cli-table3'
import stringWidth from 'string-width'
import { safeLine } from '../../core/safe-text.ts'
import type { Grid } from './payload.ts'
import { isTime } from './readable.ts'

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
