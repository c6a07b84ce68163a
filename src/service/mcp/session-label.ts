import { randomToken } from '../../core/ids.ts'
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

const longestLabel = 1_000

/**
 * The session id of a client of 2025-11-25 or older. The service stores no sessions: the id itself contains what the client
 * claimed, so that it is valid after a restart too. The random part distinguishes the calls of two clients.
 */
export const createLabel = ({ version, client }: Introduction): string => {
  const claims = Buffer.from(JSON.stringify([version ?? null, client ?? null])).toString('base64url')
  return `${randomToken(16)}.${claims}`
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const readLabel = (label: string | undefined): Introduction => {
  const claims = label !== undefined && label.length <= longestLabel ? label.split('.')[1] : undefined
  if (claims === undefined) return {}
  try {
    const [version, client] = JSON.parse(Buffer.from(claims, 'base64url').toString()) as unknown[]
    // A client can forge a label. It is trusted no more than what `initialize` claims.
    return { version: text(version), client: clientName({ name: client }) }
  } catch {
    return {}
  }
}
