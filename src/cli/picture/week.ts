import { timeslot } from '../../contract/timeslot.ts'
import { usageError } from '../../core/errors.ts'
import { isZone } from '../../factors/instant.ts'
import { compileLevel, type Level } from '../../factors/level.ts'
import type { Slot } from '../../factors/slot.ts'
import { cellsOfDay, noonOf, weekOf, zonedText, type Cell, type Day, type Week } from '../../factors/week.ts'
import type { Context } from '../context/context.ts'
import { readLevelRows, type Row } from './level-rows.ts'
import { pageOf, pageTable, requireFile } from './page.ts'

type Options = { org?: string; user?: string; timezone?: string; at?: string }

const readZone = ({ timezone: zone }: Options): string => {
  if (zone === undefined) {
    // If TZ is empty, this is `Etc/Unknown`.
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone
    return own && isZone(own) ? own : 'UTC'
  }
  if (!isZone(zone)) throw usageError(`--timezone is not a time zone: "${zone}"`, '--timezone Europe/Berlin')
  return zone
}

const readMoment = ({ at }: Options, zone: string, now: Date): number => {
  const moment = at === undefined ? now.getTime() : noonOf(at, zone)
  if (moment !== undefined) return moment
  throw usageError(`--at must be a date, not "${at}"`, '--at 2030-01-31')
}

const meanings: Partial<Record<Cell, string>> = {
  open: 'open',
  partly: 'open for part of the half hour',
  organization: 'open only for the organization',
  user: 'open only for the user',
  closed: 'closed',
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `Sun 29 Mar`. */
const dayText = ({ date, weekday }: Pick<Day, 'date' | 'weekday'>): string =>
  `${weekday[0]!.toUpperCase()}${weekday.slice(1)} ${date.slice(8)} ${months[Number(date.slice(5, 7)) - 1]}`

/** `2026-10-19 09:00 +02:00`. */
const momentText = (instant: number, zone: string): string =>
  zonedText(instant, zone).replace(/^(.{10})T(.{5}):00/, '$1 $2 ')

const cell = { width: 17, height: 40, left: 118, top: 44 }

const drawing = ({ days }: Week): string => {
  const [width, height] = [
    cell.left + cellsOfDay * cell.width + 26,
    cell.top + days.length * cell.height + 16,
  ]
  const hours = Array.from({ length: 13 }, (_, i) => {
    const x = cell.left + i * 4 * cell.width
    return `<path class="grid" d="M${x} ${cell.top - 6}V${height - 12}"/><text class="small middle" x="${x}" y="${cell.top - 14}">${String(i * 2).padStart(2, '0')}</text>`
  })
  const rows = days.map((day, i) => {
    const y = cell.top + i * cell.height
    const bars = day.cells.map((kind, at) =>
      kind === 'none'
        ? ''
        : `<rect class="${kind}" x="${cell.left + at * cell.width}" y="${y + 5}" width="${cell.width}" height="${cell.height - 10}"/>`,
    )
    return `<text class="small" x="16" y="${y + 25}">${day.again ? 'again' : dayText(day)}</text>${bars.join('')}`
  })
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="about">
<desc id="about">Days as lines, hours from left to right. The table below lists the open times.</desc>
${hours.join('\n')}
${rows.join('\n')}
</svg>`
}

const legend = ({ days }: Week): string => {
  const used = new Set(days.flatMap(({ cells }) => cells))
  const items = Object.entries(meanings).map(([kind, meaning]) =>
    used.has(kind as Cell)
      ? `<li><svg viewBox="0 0 16 16"><rect class="${kind}" width="16" height="16"/></svg>${meaning}</li>`
      : '',
  )
  return `<ul class="legend">${items.join('')}</ul>`
}

const compile = (slots: readonly Row[]): Level => compileLevel({ fences: [], slots: slots as Slot[] })

export const runWeek = async (options: Options, context: Context): Promise<void> => {
  const zone = readZone(options)
  const instant = readMoment(options, zone, context.io.now())
  await requireFile(context)
  const rows = await readLevelRows(
    { list: timeslot.listTimeslots, listOfUser: timeslot.listUserTimeslots },
    options,
    context,
  )
  const levels = { organization: compile(rows.organization), user: compile(rows.user) }
  const week = weekOf(levels, [...rows.organization, ...rows.user] as Slot[], instant, zone)
  const open = week.open.map(({ from, to }) => [momentText(from, zone), momentText(to, zone)])
  const whose = options.timezone === undefined ? " (this machine's zone)" : ''
  const [monday] = week.days
  const body = [
    `<figure class="wide" tabindex="0">\n${drawing(week)}\n</figure>`,
    legend(week),
    open.length === 0
      ? '<p>No open times.</p>'
      : pageTable('Open times', { head: ['Open from', 'To'], lines: open }),
  ]
  const title = `Week of ${dayText(monday!)} ${monday!.date.slice(0, 4)}, ${zone}${whose}`
  context.io.stdout.write(pageOf(title, body.join('\n')))
}
