import { DateTime } from 'luxon'
import { fullIsoTime } from '../core/iso-time.ts'

// The offset is required: without one the instant would depend on the machine's own zone.
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970 of an ISO 8601 instant; undefined when it is none. */
export const readInstant = (value: unknown): number | undefined => {
  if (typeof value !== 'string') return undefined
  const full = fullIsoTime(value)
  if (!iso.test(full)) return undefined
  const time = DateTime.fromISO(full, { zone: 'utc' })
  return time.isValid ? time.toMillis() : undefined
}
