import type { WebhookRecord } from '../../contract/webhook.ts'
import type { Tables } from '../storage/schema.ts'
import { storeChanged } from '../storage/store-changed.ts'
import type { Keyring } from './keyring.ts'

/** A secret that signs events; `until` (ISO) for one that a rotation replaced. */
export type Secret = { secret: string; until?: string }

/** What only the service can read or change in the row of a webhook. */
export type Target = Pick<WebhookRecord, 'org_id' | 'url' | 'format' | 'scopes'> & { secrets: Secret[] }

const contextOf = (webhook_id: string) => `webhooks:${webhook_id}` as const

export const wrapTarget = ({ wrap }: Pick<Keyring, 'wrap'>, webhook_id: string, target: Target): string =>
  wrap(JSON.stringify(target), contextOf(webhook_id))

type Sealed = Pick<Tables['webhooks'], 'webhook_id' | 'org_id' | 'wrapped'>

/** Undefined if another program has changed the row. */
export const tryTarget = (
  { unwrap }: Pick<Keyring, 'unwrap'>,
  { webhook_id, org_id, wrapped }: Sealed,
): Target | undefined => {
  try {
    const target = JSON.parse(unwrap(wrapped, contextOf(webhook_id))) as Target
    return target.org_id === org_id ? target : undefined
  } catch {
    return undefined
  }
}

/** Throws 409 if another program has changed the row. */
export const openTarget = (keyring: Pick<Keyring, 'unwrap'>, row: Sealed): Target => {
  const target = tryTarget(keyring, row)
  if (target === undefined) throw storeChanged(`the webhook ${row.webhook_id}`)
  return target
}
