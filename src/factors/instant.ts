import { DateTime, IANAZone } from 'luxon'
import { fullIsoTime } from '../core/iso-time.ts'

// The offset is required: without one the instant would depend on the machine's own zone.
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

/** Milliseconds since 1970 of an ISO 8601 instant; undefined for any other value. */
export const readInstant = (value: unknown): number | undefined => {
  if (typeof value !== 'string') return undefined
  const full = fullIsoTime(value)
  if (!iso.test(full)) return undefined
  const time = DateTime.fromISO(full, { zone: 'utc' })
  return time.isValid ? time.toMillis() : undefined
}

/** Whether it is the name of an IANA zone. Some engines also accept offsets such as +01:00, which have no daylight saving. */
export const isZone = (name: string): boolean => !/^[+-]/.test(name) && IANAZone.isValidZone(name)
