import { cellsOfDay, type Cell, type Day, type Week } from '../../rules/week.ts'
import type { Grid } from '../terminal/payload.ts'

export type WeekPicture = {
  title: string
  zone: string
  week: Week
  /** What the mark is: `now` or `at`. */
  word: string
  /** What the rules say of the marked moment. */
  verdict: string | undefined
  slots: Grid
}

type Paint = (text: string) => string
export type CellPaints = Record<'open' | 'other' | 'closed', Paint>

const signs: Record<Cell, string> = {
  open: '█',
  partly: '▒',
  closed: '·',
  organization: 'o',
  user: 'u',
  none: ' ',
}
const meanings: [Cell, string][] = [
  ['open', 'open'],
  ['partly', 'open in a part of the half hour'],
  ['organization', 'open for the organization alone'],
  ['user', 'open for the user alone'],
  ['closed', 'closed'],
]

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1)

/** `Sun 29 Mar`. */
export const dayText = ({ date, weekday }: Pick<Day, 'date' | 'weekday'>): string =>
  `${capital(weekday)} ${date.slice(8)} ${months[Number(date.slice(5, 7)) - 1]}`

const before = 11
const indent = ' '.repeat(before)
const hours = Array.from({ length: 12 }, (_, i) =>
  String(i * 2)
    .padStart(2, '0')
    .padEnd(4),
)
  .join('')
  .trimEnd()

const markText = ({ cell, clock }: { cell: number; clock: string }, word: string): string => {
  const text = `${word} ${clock}`
  const isRight = cell + text.length + 2 > cellsOfDay
  return isRight
    ? `${' '.repeat(before + cell - text.length - 1)}${text} v`
    : `${' '.repeat(before + cell)}v ${text}`
}

/** A day a line, half an hour a character. `word` says what the mark is: `now`. */
export const drawWeek = ({ days, mark }: Week, word: string, colors: CellPaints): string[] => [
  ...(mark ? [markText(mark, word)] : []),
  indent + hours,
  ...days.map((day, i) => {
    const name = day.again ? '     again' : dayText(day)
    // Runs, so that a line of colours is not a code for each cell.
    const runs =
      day.cells
        .map((cell) => signs[cell])
        .join('')
        .match(/(.)\1*/gu) ?? []
    const cells = runs.map((run) => {
      if (run.startsWith(signs.open)) return colors.open(run)
      return run.startsWith(signs.closed) ? colors.closed(run) : colors.other(run)
    })
    return `${name.padEnd(before)}${cells.join('')}${mark?.day === i ? ' <' : ''}`.trimEnd()
  }),
]

/** What the signs mean, those that stand in the picture. */
export const legendOf = ({ days }: Week): string => {
  const used = new Set(days.flatMap(({ cells }) => cells))
  return meanings
    .filter(([cell]) => used.has(cell))
    .map(([cell, meaning]) => `${signs[cell]} ${meaning}`)
    .join('   ')
}

/** What happens to the clocks in this week. */
export const jumpTexts = ({ jumps }: Week): string[] =>
  jumps.map((jump) => {
    const isForward = jump.from < jump.to
    return isForward
      ? `${dayText(jump)}: clocks go from ${jump.from} to ${jump.to}; what lies between does not exist.`
      : `${dayText(jump)}: clocks go from ${jump.from} back to ${jump.to}; what comes twice has a line of its own.`
  })
