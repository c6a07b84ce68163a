import { leaveNote, readNote } from '../calls/worker-note.ts'

/** Times of the day of this phone, `HH:MM`; `until` can be on the next day. */
export type QuietHours = { from: string; until: string }

const name = 'quiet-hours'
const time = '([01]\\d|2[0-3]):[0-5]\\d'
const shape = new RegExp(`^(?<from>${time})-(?<until>${time})$`)

/** Undefined if there are none. */
export const readQuietHours = async (): Promise<QuietHours | undefined> => {
  const { from, until } = shape.exec((await readNote(name)) ?? '')?.groups ?? {}
  return from !== undefined && until !== undefined ? { from, until } : undefined
}

/** Returns false if they cannot be kept. */
export const keepQuietHours = (hours: QuietHours | undefined): Promise<boolean> =>
  leaveNote(name, hours ? `${hours.from}-${hours.until}` : '')

const two = (value: number): string => String(value).padStart(2, '0')

export const isQuiet = (hours: QuietHours | undefined, at: Date): boolean => {
  if (!hours) return false
  const { from, until } = hours
  const now = `${two(at.getHours())}:${two(at.getMinutes())}`
  return from <= until ? from <= now && now < until : from <= now || now < until
}
