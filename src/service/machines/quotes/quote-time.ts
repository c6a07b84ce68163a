const iso = /^\d{4}-\d\d-\d\d(?:$|[T ])/
const epoch = /^\d{9,13}$/
const lastSecond = 99_999_999_999

/** A time of a provider, ISO 8601 or since 1970 in seconds or milliseconds, as ISO in UTC. Undefined for anything else. */
export const readTime = (text: string): string | undefined => {
  const number = epoch.test(text) ? Number(text) : undefined
  const ms = number === undefined ? Date.parse(text) : number > lastSecond ? number : number * 1000
  const known = (number !== undefined || iso.test(text)) && !Number.isNaN(ms)
  return known ? new Date(ms).toISOString() : undefined
}
