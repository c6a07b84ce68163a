/**
 * An ISO 8601 time with its offset in the spelling that every reader takes: with seconds, and with a colon in the
 * offset. Any other text stays as it is. Without an offset the time would depend on the machine's own zone.
 */
export const fullIsoTime = (text: string): string =>
  text.replace(
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d)(?::?(\d\d))?$/,
    (whole, minutes: string, seconds = ':00', offset: string, rest?: string) => {
      if (offset === 'Z') return rest === undefined ? `${minutes}${seconds}Z` : whole
      return `${minutes}${seconds}${offset}:${rest ?? '00'}`
    },
  )

/** A time so many milliseconds after another, or before it where they are negative; both as text, as the store keeps them. */
export const addMs = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString()
