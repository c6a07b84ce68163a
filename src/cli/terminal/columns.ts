import stringWidth from 'string-width'
import { safeLine } from '../../core/safe-text.ts'
import type { Grid } from './payload.ts'
import { isTime } from './relative-time.ts'

// Which columns of a list fit on a terminal, and how wide they are.

/** Between two columns. */
export const gap = '  '

/** A cell as it is shown. */
export const shownCell = (text: string): string => (text === '' ? '-' : safeLine(text))

/** In cells of a terminal. Fast for the usual text. */
export const widthOfText = (text: string): number =>
  /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text)

/** As much of a text as `width` cells show. */
export const cutTo = (text: string, width: number): string => {
  if (widthOfText(text) <= width) return text
  let shown = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (stringWidth(shown + segment) > width) break
    shown += segment
  }
  return shown
}

export const padded = (text: string, width: number): string =>
  text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** Columns whose cells a person copies into the next command. */
const isId = (name: string): boolean => /^(?:.+_)?id$|^prefix$|^type$/.test(name)

/** A phone number, masked or not. */
const phone = /^\+?[\d•]{7,20}$/

/** Times and phone numbers, which are useless when cut. */
const isExact = (cell: string): boolean => cell === '-' || isTime(cell) || phone.test(cell)

export type Column = {
  /** Its place in the grid. */
  at: number
  name: string
  width: number
  /** The width of its head, and of its widest cell. */
  head: number
  content: number
  /** Enough of its cells to recognize them. */
  legible: number
  isEmpty: boolean
  /** Only a text is cut. An exact value is left out instead, and an id is left out last. */
  kind: 'text' | 'exact' | 'id'
}

/** Words can be guessed from their beginning, an address or the name of a record cannot. */
const phrase = 20
const address = 40
/** A state, or enough of a head. */
const word = 8
const least = 3

/** The columns at their full width, which is at most the width of the terminal. What cannot be left out needs more room. */
const measure = ({ head = [], lines }: Grid, room: number, wide: readonly string[] = head): Column[] =>
  head.map((name, at) => {
    const cells = lines.map((line) => shownCell(line[at]!))
    const headWidth = widthOfText(safeLine(name.toUpperCase()))
    const content = cells.reduce((most, cell) => Math.max(most, widthOfText(cell)), 1)
    const isWords = cells.some((cell) => cell.includes(' '))
    return {
      at,
      name,
      width: Math.min(room, Math.max(headWidth, content)),
      head: headWidth,
      content: Math.min(room, content),
      legible: Math.min(content, isWords && wide.includes(name) ? phrase : address),
      isEmpty: cells.every((cell) => cell === '-'),
      kind: isId(name) ? 'id' : cells.every(isExact) ? 'exact' : 'text',
    }
  })

const widthOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + gap.length + width, -gap.length)

/** The width that a column needs at least. */
type Need = (column: Column) => number

const needOf =
  (text: number, headWidth: number): Need =>
  ({ kind, content, width, head }) =>
    Math.min(width, Math.max(kind === 'text' ? Math.min(content, text) : content, Math.min(head, headWidth)))

const uncut: Need = ({ width }) => width
const legibly: Need = ({ kind, head, content, legible }) =>
  Math.max(head, kind === 'text' ? legible : content)
const onlyHeadsCut = needOf(Infinity, least)
/** Narrower than this, a list leaves out columns. */
const wordsCut = needOf(word, least)
const anythingCut: Need = ({ width }) => Math.min(width, least)

/** What is cut first is missed least. */
const cuts: Need[] = [
  legibly,
  needOf(phrase, Infinity),
  needOf(phrase, word),
  needOf(word, word),
  wordsCut,
  anythingCut,
]

const fits = (columns: readonly Column[], need: Need, room: number): boolean =>
  widthOf(columns.map(need)) <= room

/** Drops exact values from the end, then texts, then ids, but the first column last. */
const withoutOne = ([first, ...others]: Column[]): Column[] => {
  const last = (kind: Column['kind']) => others.findLast((column) => column.kind === kind)
  const dropped = last('exact') ?? last('text') ?? others.at(-1)
  return [first!, ...others.filter((column) => column !== dropped)]
}

type Fitting = {
  width: number
  /** Columns that can be left out, the first one first. */
  wide?: readonly string[] | undefined
}

/**
 * A list without the columns that a narrow terminal has no room for: first those without a value, until nothing is
 * cut, then those declared as `wide`, until the others are legible, and then any until their words fit.
 */
export const leaveOut = (grid: Grid, { width, wide = [] }: Fitting): Grid => {
  if (!grid.head || width === Infinity) return grid
  let columns = measure(grid, width, wide)
  const empty = columns.filter(({ isEmpty, at }) => isEmpty && at > 0).map(({ name }) => name)
  const drop = (names: readonly string[], need: Need): void => {
    for (const name of names)
      if (!fits(columns, need, width)) columns = columns.filter((column) => column.name !== name)
  }
  drop(empty.toReversed(), uncut)
  drop(wide, legibly)
  while (columns.length > 1 && !fits(columns, wordsCut, width)) columns = withoutOne(columns)
  if (columns.length === grid.head.length) return grid
  return {
    head: columns.map(({ name }) => name),
    lines: grid.lines.map((line) => columns.map(({ at }) => line[at]!)),
  }
}

/** The heads of the columns that `shown` leaves out, but for those without a value. */
export const leftOut = ({ head = [], lines }: Grid, shown: Grid): string[] =>
  head
    .filter((name, at) => !shown.head!.includes(name) && lines.some((line) => line[at] !== ''))
    .map((name) => safeLine(name.toUpperCase()))

/** The columns of a list, cut to the room: only heads if that is enough, and otherwise the longest texts. */
export const fit = (grid: Grid, room: number): Column[] => {
  let columns = measure(grid, room)
  while (columns.length > 1 && !fits(columns, anythingCut, room)) columns = withoutOne(columns)
  for (const need of fits(columns, onlyHeadsCut, room) ? [onlyHeadsCut] : cuts)
    while (!fits(columns, uncut, room)) {
      const able = columns.filter((column) => column.width > need(column))
      if (able.length === 0) break
      able.reduce((widest, column) => (column.width > widest.width ? column : widest)).width -= 1
    }
  return columns
}
