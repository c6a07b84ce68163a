import type { Policy } from '../../contract/policy.ts'
import { conflict, forbidden, type Refusal } from '../../core/refusal.ts'
import type { DeviceClaim } from '../../receipt/claims.ts'
import type { Call } from '../call/call.ts'
import { isOperator } from '../call/caller.ts'
import { type Member, organizationRow } from '../call/tenant.ts'
import { countedDevices, ofActiveDevice } from '../devices/active.ts'
import type { DeviceRow } from '../devices/rows.ts'
import { mayInfluence, findRelation } from '../keys/ancestry.ts'
import { readScopes } from '../keys/scopes.ts'
import type { Db } from '../storage/schema.ts'
import type { ApprovalRow } from './record.ts'

// The requester must not be able to act as the approver.

const ownRequest = (): Refusal =>
  forbidden(
    'approver_is_requester',
    'The requesting key belongs to the approver, and the organization does not allow that (policy not_requester)',
    'Choose another approver',
  )

const notSeparated = (): Refusal =>
  forbidden(
    'not_separated',
    'The requesting key can influence who approves, and the organization does not allow that (policy separation strict)',
    'Use a key that can only ask: svc key create --can ask',
  )

/** Checks the requesting key before anybody is notified. Fails with 403. */
export const checkRequester = (
  { caller }: Pick<Call, 'caller'>,
  approver: { user_id: number },
  { separation, not_requester }: Policy,
  byRule: boolean,
): void => {
  if (not_requester && caller.ownerId === approver.user_id) throw ownRequest()
  // Rules exist for the writes of such keys, so a rule's own request is exempt. The operator is trusted.
  if (separation === 'strict' && !byRule && mayInfluence(caller) && !isOperator(caller)) throw notSeparated()
}

/** How the device was registered, and how the key that enrolled it relates to the requesting key. */
export const readDeviceClaim = async (
  { db, keyring }: Pick<Call, 'db' | 'keyring'>,
  row: Pick<ApprovalRow, 'key_id'>,
  device: DeviceRow,
): Promise<DeviceClaim> => {
  const { enrolled_by } = device
  const enroller =
    enrolled_by === null
      ? undefined
      : await db.selectFrom('api_keys').where('id', '=', enrolled_by).select('name').executeTakeFirst()
  return {
    id: String(device.id),
    proof: device.proof,
    bound_at: device.bound_at,
    enrolled_by: {
      key_id: enrolled_by === null ? null : String(enrolled_by),
      name: enroller?.name ?? null,
      relation: await findRelation({ db, keyring }, row.key_id, enrolled_by),
    },
  }
}

/** Whether somebody other than the requester enrolled the device. An unrecorded link does not count as that. */
const isSeparated = ({ proof, enrolled_by: { relation } }: DeviceClaim): boolean =>
  relation !== 'self' && relation !== 'creator' && !(relation === 'unknown' && proof === 'link')

/** Under `strict`, at least one device must be able to approve. Checked before anybody is notified; fails with 409. */
export const checkDevices = async (
  call: Pick<Call, 'db' | 'dev' | 'caller' | 'keyring'>,
  approver: Member,
  { separation }: Policy,
): Promise<void> => {
  if (separation !== 'strict' || isOperator(call.caller)) return
  const key = { key_id: call.caller.keyId }
  for (const device of await countedDevices(call, approver).where(ofActiveDevice('devices')).execute())
    if (isSeparated(await readDeviceClaim(call, key, device))) return
  throw conflict(
    'approver_not_separated',
    'Every device of the approver was enrolled by the requesting key, by the key that created it, or by an unrecorded key',
    'The organization requires another device (policy separation strict): svc user enroll <user-id> with another key',
  )
}

/** Applies the current policy to an approval that is about to count. Fails with 403; the request stays pending. */
export const checkDecider = async (db: Db, row: ApprovalRow, claim: DeviceClaim): Promise<void> => {
  const { policy } = await organizationRow(db, row.org_id)
  const { separation, not_requester } = policy
  if (separation !== 'strict' && !not_requester) return
  const key = await db
    .selectFrom('api_keys')
    .where('id', '=', row.key_id)
    .select(['org_id', 'owner_user_id'])
    .executeTakeFirst()
  if (not_requester && key?.owner_user_id === row.user_id) throw ownRequest()
  const requester = { orgId: key?.org_id ?? null, scopes: readScopes(row.key_scopes ?? '') }
  if (separation !== 'strict' || (row.key_id !== 0 && isOperator(requester))) return
  if (row.key_influences === 1 && row.by_rule === 0) throw notSeparated()
  if (!isSeparated(claim))
    throw forbidden(
      'device_not_separated',
      'This device was enrolled by the requesting key, by the key that created it, or by an unrecorded key, and the organization does not allow that (policy separation strict)',
      'Approve with a device that someone else enrolled: svc user enroll <user-id>',
    )
}
