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
