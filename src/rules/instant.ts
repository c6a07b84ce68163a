import { DateTime } from 'luxon'

// The offset is required: without one the instant would depend on the machine's own zone.
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970 of an ISO 8601 instant; undefined when it is none. */
export const readInstant = (value: unknown): number | undefined => {
  if (typeof value !== 'string' || !iso.test(value)) return undefined
  const time = DateTime.fromISO(value, { zone: 'utc' })
  return time.isValid ? time.toMillis() : undefined
}
