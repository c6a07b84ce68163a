import type { approver } from '../../../contract/approver.ts'
import { invalid } from '../../../core/refusal.ts'
import type { HandlerOf } from '../../call/call.ts'
import { requirePerson } from '../../call/caller.ts'
import type { Keyring } from '../../call/keyring.ts'
import type { RowInput } from '../../call/row-ids.ts'
import { checkPublicUrl } from '../../delivery/public-address.ts'

export type Subscription = RowInput<typeof approver.subscribePush>

const contextOf = (device_id: number) => `push_subscriptions:${device_id}` as const

const isBytes = (text: string, length: number): boolean => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text
}

export const openSubscription = (
  { unwrap }: Pick<Keyring, 'unwrap'>,
  device_id: number,
  wrapped: string,
): Subscription => JSON.parse(unwrap(wrapped, contextOf(device_id))) as Subscription

/** Stores where the device at the page gets its notifications, and replaces its earlier subscription. */
export const subscribePush: HandlerOf<typeof approver.subscribePush> = async (input, call) => {
  const { org_id, device_id } = requirePerson(call.caller)
  checkPublicUrl('endpoint', input.endpoint, call.dev)
  if (!isBytes(input.keys.p256dh, 65)) throw invalid('keys.p256dh', 'must be a point of P-256 in base64url')
  if (!isBytes(input.keys.auth, 16)) throw invalid('keys.auth', 'must be 16 bytes in base64url')
  const values = {
    wrapped: call.keyring.wrap(JSON.stringify(input), contextOf(device_id)),
    created_at: call.now,
  }
  await call.db
    .insertInto('push_subscriptions')
    .values({ device_id, ...values })
    .onConflict((of) => of.column('device_id').doUpdateSet(values))
    .execute()
  await call.audit(org_id, `device:${device_id}`, ['notifications'])
  return undefined
}
