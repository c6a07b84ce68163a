import { createHmac, randomBytes } from 'node:crypto'
import type { Secret } from '../call/webhook-target.ts'

// Standard Webhooks 1.0: https://www.standardwebhooks.com

const prefix = 'whsec_'

export const newSigningSecret = (): string => prefix + randomBytes(32).toString('base64')

/** The secrets that sign at a time. */
export const secretsAt = (secrets: readonly Secret[], now: string): Secret[] =>
  secrets.filter(({ until }) => until === undefined || until > now)

/** The headers of a delivery, signed with each secret. `now` is the time of the attempt, ISO. */
export const signedHeaders = (
  secrets: readonly Secret[],
  { id, body, now }: { id: string; body: string; now: string },
): Record<string, string> => {
  const timestamp = Math.floor(Date.parse(now) / 1000)
  const signatures = secretsAt(secrets, now).map(({ secret }) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
