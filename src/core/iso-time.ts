/**
 * An ISO 8601 time with offset, completed with seconds and a colon in the offset, which every parser accepts. Any other text
 * is returned unchanged: without an offset, the time would depend on the zone of this machine.
 */
export const fullIsoTime = (text: string): string =>
  text.replace(
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d)(?::?(\d\d))?$/,
    (whole, minutes: string, seconds = ':00', offset: string, rest?: string) => {
      if (offset === 'Z') return rest === undefined ? `${minutes}${seconds}Z` : whole
      return `${minutes}${seconds}${offset}:${rest ?? '00'}`
    },
  )

export const hourMs = 60 * 60_000
export const dayMs = 24 * hourMs

/** An ISO time plus milliseconds, which can be negative; both as text, as in the store. */
export const addMs = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString()

/** An ISO time without its milliseconds. */
export const inWholeSeconds = (time: string): string => time.replace(/\.\d+/, '')
