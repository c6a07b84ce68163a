import { safeLine } from '../../core/safe-text.ts'

const longestName = 80

/** The name that a client claims, as one line that an approver can read. Undefined if there is none. */
export const clientName = (info: { name?: unknown; title?: unknown } | undefined): string | undefined => {
  const name = [info?.title, info?.name].find((text) => typeof text === 'string' && text.trim() !== '')
  if (typeof name !== 'string') return undefined
  const line = safeLine(name.slice(0, 4 * longestName).replace(/\s+/g, ' ')).trim()
  // Cut between characters, because half of one cannot be signed.
  return [...line].slice(0, longestName).join('')
}

/** What a client claims at `initialize`. Nothing of it is verified. */
export type Introduction = { version?: string | undefined; client?: string | undefined }
