import type { Policy } from '../../contract/policy.ts'
import { conflict, Refusal } from '../../core/refusal.ts'
import type { DeviceClaim } from '../../receipt/claims.ts'
import type { Call } from '../call/call.ts'
import { isOperator } from '../call/caller.ts'
import { organizationRow } from '../call/tenant.ts'
import { devicesOf, ofActiveDevice } from '../devices/active.ts'
import type { DeviceRow } from '../devices/rows.ts'
import { mayInfluence, relationOf } from '../keys/ancestry.ts'
import { readScopes } from '../keys/scopes.ts'
import type { Db } from '../storage/schema.ts'
import type { ApprovalRow } from './record.ts'

// Who asks must not be able to be the one who answers.

const ownRequest = (): Refusal =>
  new Refusal(
    403,
    'approver_is_requester',
    'The key that asks belongs to the approver, and the organization does not accept that (policy not_requester)',
    { hint: 'Name another approver' },
  )

const notSeparated = (): Refusal =>
  new Refusal(
    403,
    'not_separated',
    'The key that asks can influence who approves, and the organization does not accept that (policy separation strict)',
    { hint: 'Ask with a key that can only ask: svc key create --can ask' },
  )

/** Before anybody is notified. Fails with 403. */
export const checkRequester = (
  { caller }: Pick<Call, 'caller'>,
  approver: { user_id: number },
  { separation, not_requester }: Policy,
  byRule: boolean,
): void => {
  if (not_requester && caller.ownerId === approver.user_id) throw ownRequest()
  // What a rule holds up is what such keys do. The operator is the root of trust.
  if (separation === 'strict' && !byRule && mayInfluence(caller) && !isOperator(caller)) throw notSeparated()
}

/** How the device became the approver's, and by which key as seen from the one that asked. */
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
      relation: await relationOf({ db, keyring }, row.key_id, enrolled_by),
    },
  }
}

/** Somebody else than whoever asks enrolled the device. Of a link that nobody recorded, no one knows. */
const isSeparated = ({ proof, enrolled_by: { relation } }: DeviceClaim): boolean =>
  relation !== 'self' && relation !== 'creator' && !(relation === 'unknown' && proof === 'link')

/** Before anybody is notified: under `strict`, at least one device must be one that may approve. Fails with 409. */
export const checkDevices = async (
  { db, dev, caller, keyring }: Pick<Call, 'db' | 'dev' | 'caller' | 'keyring'>,
  { org_id, user_id }: { org_id: number; user_id: number },
  { separation }: Policy,
): Promise<void> => {
  if (separation !== 'strict' || isOperator(caller)) return
  const devices = await devicesOf(db, { org_id, user_id })
    .where(ofActiveDevice('devices'))
    .$if(!dev, (query) => query.where('kind', '=', 'phone'))
    .selectAll()
    .execute()
  for (const device of devices)
    if (isSeparated(await readDeviceClaim({ db, keyring }, { key_id: caller.keyId }, device))) return
  throw conflict(
    'approver_not_separated',
    'Every device of the approver was enrolled by the key that asks, by the one that created it, or by one that was not recorded',
    'The organization requires another (policy separation strict): svc user enroll <user-id> with another key',
  )
}

const askedByOperator = ({ key_id, key_scopes }: ApprovalRow, orgId: number | null): boolean =>
  key_id !== 0 && isOperator({ orgId, scopes: readScopes(key_scopes ?? '') })

/** Of an approval that is about to count, by the policy as it is now. Fails with 403; the request stays pending. */
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
  if (separation !== 'strict' || askedByOperator(row, key?.org_id ?? null)) return
  if (row.key_influences === 1 && row.by_rule === 0) throw notSeparated()
  if (!isSeparated(claim))
    throw new Refusal(
      403,
      'device_not_separated',
      'The key that enrolled this device is the one that asks, created it, or was not recorded, and the organization does not accept that (policy separation strict)',
      { hint: 'Approve with a device that somebody else enrolled: svc user enroll <user-id>' },
    )
}
