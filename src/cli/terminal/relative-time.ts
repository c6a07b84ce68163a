import { inWholeSeconds } from '../../core/iso-time.ts'

const units: [unit: string, seconds: number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
]

/** Older times are shown as dates. */
const mostDays = 30

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/
const relative = /^(?:just now|in \d{1,3}[dhms]|\d{1,3}[dhm] ago|\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\dZ)?)$/

/** Whether a cell of a table is a time, relative or not. */
export const isTime = (text: string): boolean => time.test(text) || relative.test(text)

/** Whether a field contains a time: `at`, `created_at`, `as_of`, `failing_since`, `until`, `use_by`. */
export const holdsTime = (field: string): boolean => /(?:^|_)(?:at|of|since|from|until|by)$/.test(field)

/** A time without its milliseconds. Returns text that is not a time unchanged. */
export const inSeconds = (text: string): string => (time.test(text) ? inWholeSeconds(text) : text)

/** A time of today without its date: `20:22:54Z`. Returns text that is not a time unchanged. */
export const clockTime = (text: string, now: Date): string => {
  const exact = inSeconds(text)
  return exact.startsWith(now.toISOString().slice(0, 11)) ? exact.slice(11) : exact
}

/** A relative time, with the units of --since: `3m ago`, `in 2h`, or `2030-01-31`. Returns text that is not a time unchanged. */
export const relativeTime = (text: string, now: Date): string => {
  if (!time.test(text)) return text
  const seconds = (Date.parse(text) - now.getTime()) / 1000
  const size = Math.abs(seconds)
  if (Number.isNaN(size)) return text
  if (size >= mostDays * 86_400) return text.slice(0, 10)
  const [unit, length] = units.find(([, least]) => size >= least) ?? []
  if (unit === undefined || length === undefined || (seconds < 0 && unit === 's')) return 'just now'
  const count = `${Math.trunc(size / length)}${unit}`
  return seconds > 0 ? `in ${count}` : `${count} ago`
}
