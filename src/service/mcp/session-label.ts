import { randomToken } from '../../core/ids.ts'
import { clientName, type Introduction } from '../../tools/server/client-name.ts'

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
