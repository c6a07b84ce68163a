import { leaveNote, readNote } from '../calls/worker-note.ts'
import type { QuietHours } from './quiet-time.ts'

const name = 'quiet-hours'
const shape = /^(?<from>(?:[01]\d|2[0-3]):[0-5]\d)-(?<until>(?:[01]\d|2[0-3]):[0-5]\d)$/

/** Undefined if there are none. */
export const readQuietHours = async (): Promise<QuietHours | undefined> => {
  const { from, until } = shape.exec((await readNote(name)) ?? '')?.groups ?? {}
  return from !== undefined && until !== undefined ? { from, until } : undefined
}

/** Returns false if they cannot be kept. */
export const keepQuietHours = (hours: QuietHours | undefined): Promise<boolean> =>
  leaveNote(name, hours ? `${hours.from}-${hours.until}` : '')
