import { cellsOfDay, type Cell, type Day, type Week } from '../../factors/week.ts'
import type { Grid } from '../terminal/payload.ts'

export type WeekPicture = {
  title: string
  zone: string
  week: Week
  /** The label of the mark. */
  word: 'now' | 'at'
  /** On the marked time. */
  verdict: string | undefined
  slots: Grid
}

type Paint = (text: string) => string

const signs: Record<Cell, string> = {
  open: '█',
  partly: '▒',
  closed: '·',
  organization: 'o',
  user: 'u',
  none: ' ',
}
export const meanings: [Cell, string][] = [
  ['open', 'open'],
  ['partly', 'open for part of the half hour'],
  ['organization', 'open only for the organization'],
  ['user', 'open only for the user'],
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
  return cell + text.length + 2 > cellsOfDay
    ? `${' '.repeat(before + cell - text.length - 1)}${text} v`
    : `${' '.repeat(before + cell)}v ${text}`
}

/** One line for each day, one character for each half hour. */
export const drawWeek = (
  { days, mark }: Week,
  word: string,
  colors: Record<'open' | 'other' | 'closed', Paint>,
): string[] => [
  ...(mark ? [markText(mark, word)] : []),
  indent + hours,
  ...days.map((day, i) => {
    const name = day.again ? '     again' : dayText(day)
    // Colours are set for runs of equal cells, which keeps the line short.
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

/** The meanings of the signs in this week. */
export const legendOf = ({ days }: Week): string => {
  const used = new Set(days.flatMap(({ cells }) => cells))
  return meanings
    .filter(([cell]) => used.has(cell))
    .map(([cell, meaning]) => `${signs[cell]} ${meaning}`)
    .join('   ')
}

/** The clock changes of this week. */
export const jumpTexts = ({ jumps }: Week): string[] =>
  jumps.map(({ from, to, ...day }) =>
    from < to
      ? `${dayText(day)}: clocks go from ${from} to ${to}; the time in between does not exist.`
      : `${dayText(day)}: clocks go from ${from} back to ${to}; the repeated time has its own line.`,
  )
