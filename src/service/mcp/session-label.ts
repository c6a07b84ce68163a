import { randomToken } from '../../core/ids.ts'
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

/** What a client says of itself at `initialize`. Nothing of it is verified. */
export type Introduction = { version?: string | undefined; client?: string | undefined }

const longestLabel = 1_000

/**
 * The session id of a client of 2025-11-25 or older. We keep no sessions: the client carries what it said in the id
 * itself, so that it holds after a restart too. The random part tells the calls of two clients apart.
 */
export const createLabel = ({ version, client }: Introduction): string => {
  const said = Buffer.from(JSON.stringify([version ?? null, client ?? null])).toString('base64url')
  return `${randomToken(16)}.${said}`
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

export const readLabel = (label: string | undefined): Introduction => {
  const said = label !== undefined && label.length <= longestLabel ? label.split('.')[1] : undefined
  if (said === undefined) return {}
  try {
    const [version, client] = JSON.parse(Buffer.from(said, 'base64url').toString()) as unknown[]
    // A client may have made it up: it is no more believed than what `initialize` says.
    return { version: text(version), client: clientName({ name: client }) }
  } catch {
    return {}
  }
}
