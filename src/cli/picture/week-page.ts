import { cellsOfDay, zonedText, type Cell, type Day, type Week } from '../../factors/week.ts'
import type { Grid } from '../terminal/payload.ts'
import { pageOf, pageTable, pageText } from './page.ts'

type WeekPicture = {
  title: string
  zone: string
  week: Week
  /** The label of the mark. */
  word: 'now' | 'at'
  /** On the marked time. */
  verdict: string | undefined
  slots: Grid
}

const meanings: [Cell, string][] = [
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

/** The clock changes of this week. */
const jumpTexts = ({ jumps }: Week): string[] =>
  jumps.map(({ from, to, ...day }) =>
    from < to
      ? `${dayText(day)}: clocks go from ${from} to ${to}; the time in between does not exist.`
      : `${dayText(day)}: clocks go from ${from} back to ${to}; the repeated time has its own line.`,
  )

const cell = { width: 17, height: 40, left: 118, top: 44 }
const width = cell.left + cellsOfDay * cell.width + 26

/** `2026-10-19 09:00 +02:00`. */
const momentText = (instant: number, zone: string): string =>
  zonedText(instant, zone).replace(/^(.{10})T(.{5}):00/, '$1 $2 ')

/** Adjacent cells of the same kind, merged. */
const runsOf = (cells: readonly Cell[]): { from: number; to: number; kind: Cell }[] => {
  const runs: { from: number; to: number; kind: Cell }[] = []
  for (const [i, kind] of cells.entries()) {
    const last = runs.at(-1)
    if (last?.kind === kind) last.to = i + 1
    else runs.push({ from: i, to: i + 1, kind })
  }
  return runs
}

const drawing = ({ title, week: { days, mark }, word }: WeekPicture): string => {
  const height = cell.top + days.length * cell.height + 16
  const xOf = (index: number): number => cell.left + index * cell.width
  const hours = Array.from(
    { length: 13 },
    (_, i) =>
      `<path class="grid" d="M${xOf(i * 4)} ${cell.top - 6}V${height - 12}"/><text class="small middle" x="${xOf(i * 4)}" y="${cell.top - 14}">${String(i * 2).padStart(2, '0')}</text>`,
  )
  const rows = days.map((day, i) => {
    const y = cell.top + i * cell.height
    const bars = runsOf(day.cells)
      .filter(({ kind }) => kind !== 'none')
      .map(
        ({ from, to, kind }) =>
          `<rect class="${kind}" x="${xOf(from)}" y="${y + 5}" width="${(to - from) * cell.width}" height="${cell.height - 10}" rx="4"/>`,
      )
    return `<text class="small" x="16" y="${y + 25}">${day.again ? 'again' : dayText(day)}</text>${bars.join('')}`
  })
  const here = mark && { x: xOf(mark.cell) + cell.width / 2, y: cell.top + mark.day * cell.height }
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title about">
<title id="title">${pageText(title)}</title>
<desc id="about">Days as lines, hours from left to right. The table below lists the open times.</desc>
${hours.join('\n')}
${rows.join('\n')}
${here && mark ? `<path class="here" d="M${here.x} ${here.y}v${cell.height}"><title>${word} ${mark.clock}</title></path>` : ''}
</svg>`
}

/** One HTML file with the week, a table of its open times, and a table of the time slots. */
export const weekPage = (picture: WeekPicture): string => {
  const { title, zone, week, verdict, slots } = picture
  const times = week.open.map(({ from, to }) => [momentText(from, zone), momentText(to, zone)])
  const used = new Set(week.days.flatMap(({ cells }) => cells))
  const legend = meanings
    .filter(([kind]) => used.has(kind))
    .map(
      ([kind, meaning]) =>
        `<li><svg viewBox="0 0 16 16"><rect class="${kind}" width="16" height="16" rx="3"/></svg>${meaning}</li>`,
    )
  return pageOf(
    title,
    [
      verdict === undefined ? '' : `<p class="verdict">${pageText(verdict)}</p>`,
      `<figure class="wide" tabindex="0">\n${drawing(picture)}\n</figure>`,
      `<ul class="legend">${legend.join('')}</ul>`,
      ...jumpTexts(week).map((text) => `<p>${pageText(text)}</p>`),
      times.length === 0
        ? '<p>No open times.</p>'
        : pageTable('Open times', { head: ['Open from', 'To'], lines: times }),
      '<h2>Time slots</h2>',
      slots.lines.length === 0 ? '<p>No time slots: no restriction.</p>' : pageTable('Time slots', slots),
    ].join('\n'),
  )
}
