import { timeslot } from '../../contract/timeslot.ts'
import { usageError } from '../../core/errors.ts'
import { readInstant, isZone } from '../../factors/instant.ts'
import { compileLevel, type Level } from '../../factors/level.ts'
import type { Slot } from '../../factors/slot.ts'
import { checkTime } from '../../factors/time.ts'
import { noonOf, weekOf, zonedText } from '../../factors/week.ts'
import type { Context } from '../context/context.ts'
import { cellText, type Grid } from '../terminal/payload.ts'
import { readLevelRows, verdictFor, type LevelRows } from './level-rows.ts'
import { checkPicture, writePicture } from './picture-output.ts'

type Options = { org?: string; user?: string; timezone?: string; at?: string; html?: string }

const readZone = ({ timezone: zone }: Options): string => {
  if (zone === undefined) {
    // If TZ is empty, this is `Etc/Unknown`.
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone
    return own && isZone(own) ? own : 'UTC'
  }
  if (!isZone(zone)) throw usageError(`--timezone is not a time zone: "${zone}"`, '--timezone Europe/Berlin')
  return zone
}

/** A date alone sets no mark. */
const readMoment = ({ at }: Options, zone: string, now: Date): { instant: number; marked: boolean } => {
  if (at === undefined) return { instant: now.getTime(), marked: true }
  const [instant, noon] = [readInstant(at), noonOf(at, zone)]
  if (instant === undefined && noon === undefined)
    throw usageError(
      `--at must be a date or an ISO 8601 time with an offset, not "${at}"`,
      '--at 2030-01-31, --at 2030-01-31T08:30:00+01:00',
    )
  return { instant: instant ?? noon!, marked: instant !== undefined }
}

const compile = (slots: readonly unknown[]): Level => compileLevel({ fences: [], slots: slots as Slot[] })

const slotGrid = ({ organization, user }: LevelRows): Grid => {
  const bothLevels = organization !== undefined && user !== undefined
  const line = (of: string) => (slot: Record<string, unknown>) => [
    cellText(slot['name']),
    ...(bothLevels ? [of] : []),
    ...['days', 'start', 'end', 'timezone'].map((name) => cellText(slot[name])),
    slot['is_active'] === 0 ? 'no' : 'yes',
  ]
  return {
    head: ['name', ...(bothLevels ? ['of'] : []), 'days', 'start', 'end', 'timezone', 'active'],
    lines: [...(organization ?? []).map(line('organization')), ...(user ?? []).map(line('user'))],
  }
}

export const runWeek = async (options: Options, context: Context): Promise<void> => {
  const zone = readZone(options)
  const { instant, marked } = readMoment(options, zone, context.io.now())
  checkPicture(options.html, context)
  const output = await context.output()
  const rows = await readLevelRows(
    { list: timeslot.listTimeslots, listOfUser: timeslot.listUserTimeslots },
    options,
    context,
  )
  const { organization = [], user = [] } = rows
  const levels = { organization: compile(organization), user: compile(user) }
  const whole = weekOf(levels, [...organization, ...user] as Slot[], instant, zone)
  const week = marked ? whole : { ...whole, mark: undefined }
  const word = options.at === undefined ? 'now' : 'at'
  const verdict = marked
    ? verdictFor(options.at ?? 'Now', checkTime(levels, new Date(instant).toISOString())).text
    : undefined

  if (options.html === undefined) {
    if (verdict !== undefined) output.note(verdict)
    const data = week.open.map(({ from, to }) => ({
      opens: zonedText(from, zone),
      closes: zonedText(to, zone),
    }))
    return output.report('Open times', data, { known: ['opens', 'closes'] })
  }
  const { dayText, weekPage } = await import('./week-page.ts')
  const whose = options.timezone === undefined ? " (this machine's zone)" : ''
  const [monday] = week.days
  const title = `Week of ${dayText(monday!)} ${monday!.date.slice(0, 4)}, ${zone}${whose}`
  const page = weekPage({ title, zone, week, word, verdict, slots: slotGrid(rows) })
  await writePicture(options.html, page, context)
}
