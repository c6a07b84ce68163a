import { ECDH } from 'node:crypto'
import { invalid, Refusal } from '../../../core/refusal.ts'
import { sha256 } from '../../../core/ids.ts'
import type { Call, HandlerOf } from '../../call/call.ts'
import { type Person, requirePerson } from '../../call/caller.ts'
import type { Keyring } from '../../call/keyring.ts'
import type { RowInput } from '../../call/row-ids.ts'
import { organizationRow } from '../../call/tenant.ts'
import { checkPublicUrl } from '../../delivery/public-address.ts'
import { dropPushTarget, type PushTarget, readPushTargets } from '../../devices/push-targets.ts'
import { consumeOrRefuse } from '../../limits/rate-limit.ts'
import type { Db } from '../../storage/schema.ts'

export type Subscription = RowInput<'subscribePush'>

const contextOf = ({ device_id, endpoint_hash }: Pick<PushTarget, 'device_id' | 'endpoint_hash'>) =>
  `device_push:${device_id}:${endpoint_hash}` as const

const isBytes = (text: string, length: number): boolean => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text
}

/** Nothing can be encrypted for any other, so each message would fail, and be sent again to the other phones of the device. */
const isPoint = (text: string): boolean => {
  try {
    ECDH.convertKey(text, 'prime256v1', 'base64url', 'hex')
    return isBytes(text, 65)
  } catch {
    return false
  }
}

export const openSubscription = ({ unwrap }: Pick<Keyring, 'unwrap'>, target: PushTarget): Subscription =>
  JSON.parse(unwrap(target.wrapped, contextOf(target))) as Subscription

/** More phones with one synced passkey are unlikely; the oldest subscription makes room. */
const phonesAtMost = 5

/** Deletes what a new subscription replaces: an earlier one of the same browser, and those beyond the limit. */
const dropReplaced = async (
  { db }: Call,
  { device_id, session_id, endpoint_hash }: { device_id: number; session_id: number; endpoint_hash: string },
): Promise<void> => {
  await db
    .deleteFrom('device_push')
    .where('device_id', '=', device_id)
    .where('session_id', '=', session_id)
    .where('endpoint_hash', '<>', endpoint_hash)
    .execute()
  const targets = await readPushTargets(db, device_id)
  for (const target of targets.slice(phonesAtMost)) await dropPushTarget(db, target)
}

/** Stores where the phone at the page gets its notifications, and replaces its earlier subscription. */
export const subscribePush: HandlerOf<'subscribePush'> = async (input, call) => {
  const { org_id, device_id, session_id } = requirePerson(call.caller)
  checkPublicUrl('endpoint', input.endpoint, call.service.dev)
  if (!isPoint(input.keys.p256dh)) throw invalid('keys.p256dh', 'must be a point of P-256 in base64url')
  if (!isBytes(input.keys.auth, 16)) throw invalid('keys.auth', 'must be 16 bytes in base64url')
  const endpoint_hash = sha256(input.endpoint)
  const values = {
    session_id,
    wrapped: call.keyring.wrap(JSON.stringify(input), contextOf({ device_id, endpoint_hash })),
    created_at: call.now,
  }
  await call.db
    .insertInto('device_push')
    .values({ device_id, endpoint_hash, ...values })
    .onConflict((of) => of.columns(['device_id', 'endpoint_hash']).doUpdateSet(values))
    .execute()
  await dropReplaced(call, { device_id, session_id, endpoint_hash })
  await call.audit(org_id, `device:${device_id}`, ['notifications'])
}

/** Forgets where the phone of a session gets its notifications. */
export const forgetPhone = (db: Db, { device_id, session_id }: Person) =>
  db
    .deleteFrom('device_push')
    .where('device_id', '=', device_id)
    .where('session_id', '=', session_id)
    .execute()

export const unsubscribePush: HandlerOf<'unsubscribePush'> = async (_, call) => {
  const person = requirePerson(call.caller)
  await forgetPhone(call.db, person)
  await call.audit(person.org_id, `device:${person.device_id}`, ['notifications'])
}

const tests = { kind: 'push-test', atMost: 3, windowMs: 10 * 60_000 }

/** Sends the device of the caller a notification that says that it works. */
export const testPush: HandlerOf<'testPush'> = async (_, call) => {
  const { org_id, device_id } = requirePerson(call.caller)
  if ((await readPushTargets(call.db, device_id)).length === 0)
    throw new Refusal(409, 'notifications_off', 'Notifications are off on this device', {
      hint: 'Turn them on at the approver page',
    })
  await consumeOrRefuse(
    call,
    tests,
    { org_id, subject: `device:${device_id}` },
    { code: 'too_many_tests', what: 'Three tests were sent' },
  )
  const { name: organization } = await organizationRow(call.db, org_id)
  await call.send({
    org_id,
    channel: 'push',
    kind: 'test',
    to: String(device_id),
    text: JSON.stringify({ test: true, organization }),
  })
  await call.audit(org_id, `device:${device_id}`, ['notifications'])
}
