import { cellText, type Row } from './payload.ts'
import { isRecord } from '../../core/is-record.ts'

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
  { now, folded }: { now?: Date; folded?: readonly string[] },
): unknown => {
  if (isRecord(payload)) return unrolled(payload, folded)
  if (!Array.isArray(payload)) return payload
  return payload.map((row: unknown) =>
    isRecord(row)
      ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, cell(name, value, now)]))
      : row,
  )
}
