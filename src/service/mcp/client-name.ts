import { safeLine } from '../../core/safe-text.ts'

const longest = 80

/** The name that a client gives itself, as one line that an approver can read. Undefined when nothing is left of it. */
export const clientName = (info: { name?: unknown; title?: unknown } | undefined): string | undefined => {
  const given = [info?.title, info?.name].find((text) => typeof text === 'string' && text.trim() !== '')
  if (typeof given !== 'string') return undefined
  const line = safeLine(given.slice(0, 4 * longest).replace(/\s+/g, ' ')).trim()
  // By characters: half of one cannot be signed.
  return [...line].slice(0, longest).join('')
}
