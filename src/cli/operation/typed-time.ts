import { usageError } from '../../core/errors.ts'
import { fullIsoTime } from '../../core/iso-time.ts'
import { weekdays } from '../../core/weekdays.ts'

const wholeNames = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/** The index of a day in the week; `mon` and `monday` are the same. -1 for anything else. */
const position = (day: unknown): number =>
  typeof day === 'string' && day.length >= 3
    ? wholeNames.findIndex((name) => name.startsWith(day.trim().toLowerCase()))
    : -1

/** `mon-fri`, `fri-mon`: every day from the first to the last, across the end of the week if necessary. */
const span = (word: unknown): unknown[] => {
  const text = typeof word === 'string' ? word.trim() : ''
  if (/^daily$/i.test(text)) return [...weekdays]
  const [, from, to] = /^([a-z]{3,9})-([a-z]{3,9})$/i.exec(text) ?? []
  const [first, last] = from === undefined ? [position(word), position(word)] : [position(from), position(to)]
  if (first < 0 || last < 0) return [word]
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => weekdays[(first + i) % 7]!)
}

/** Converts days as people write them (`mon-fri`, `mon,wed`, `daily`) to those of the service. Keeps what is not a day. */
export const expandDays = (days: unknown): unknown => {
  const words: unknown = typeof days === 'string' ? days.split(',') : days
  if (!Array.isArray(words)) return days
  return [...new Set(words.flatMap(span))].toSorted((a, b) => position(a) - position(b))
}

/** Expands the day ranges of time slots. */
export const expandSlots = (slots: unknown): unknown =>
  Array.isArray(slots)
    ? slots.map((slot: unknown) =>
        typeof slot === 'object' && slot !== null && 'days' in slot
          ? { ...slot, days: expandDays(slot.days) }
          : slot,
      )
    : slots

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const

/** In milliseconds, `2h`; undefined for any other text. */
const typedSpan = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,4})([smhdw])$/.exec(text) ?? []
  return unit === undefined ? undefined : Number(count) * units[unit as keyof typeof units]
}

/** The text of a number of seconds that was typed as `90`, `5m` or `1h`. Returns any other text unchanged. */
export const typedSeconds = (text: string): string => {
  const ms = typedSpan(text)
  return ms === undefined ? text : String(ms / 1000)
}

/** Whether the calendar has this day: `Date` reads 31 February as 3 March. */
const isDay = (day: string): boolean => {
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

export type Direction = 'past' | 'future'

const examples: Record<Direction, [string, string]> = { past: ['2h', '3d'], future: ['12h', '30d'] }

/** The accepted forms, for help. */
export const timeForms = (direction: Direction): string =>
  [...examples[direction], '2030-01-31 or ISO 8601'].join(', ')

/**
 * A time as people type it: relative (`2h`, `3d`), a day, or a time in ISO 8601. Without an offset it is UTC, like
 * every time that svc prints. Throws a usage error that names the flag and the typed text.
 */
export const typedTime = (flag: string, text: string, direction: Direction, now: Date): string => {
  const away = typedSpan(text)
  if (away !== undefined) return new Date(now.getTime() + (direction === 'past' ? -away : away)).toISOString()
  const [, day, time, offset] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/.exec(text) ?? []
  const at =
    day !== undefined && isDay(day)
      ? Date.parse(fullIsoTime(`${day}T${time ?? '00:00'}${offset ?? 'Z'}`))
      : Number.NaN
  if (!Number.isNaN(at)) return new Date(at).toISOString()
  const [short, long] = examples[direction]
  throw usageError(
    `--${flag} is not a valid time: "${text}"`,
    `--${flag} ${short}, --${flag} ${long} (units: s, m, h, d, w), --${flag} 2030-01-31 or --${flag} 2030-01-31T18:00:00Z`,
  )
}
