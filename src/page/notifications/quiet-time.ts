/** Times of the day of this phone, `HH:MM`; `until` can be on the next day. */
export type QuietHours = { from: string; until: string }

const two = (value: number): string => String(value).padStart(2, '0')

export const isQuiet = (hours: QuietHours | undefined, at: Date): boolean => {
  if (!hours) return false
  const { from, until } = hours
  const now = `${two(at.getHours())}:${two(at.getMinutes())}`
  return from <= until ? from <= now && now < until : from <= now || now < until
}
