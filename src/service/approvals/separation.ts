import type { Policy } from '../../contract/policy.ts'
import type { DeviceClaim } from '../../receipt/claims.ts'
import type { Call } from '../call.ts'
import { mayInfluence, relationOf } from '../keys/influence.ts'
import { isOperator, readScopes } from '../keys/scopes.ts'
import { Refusal } from '../refusal.ts'
import type { Db } from '../storage/schema.ts'
import type { DeviceRow } from './credential.ts'
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
  db: Db,
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
      relation: await relationOf(db, row.key_id, enrolled_by),
    },
  }
}

const askedByOperator = ({ key_id, key_scopes }: ApprovalRow, orgId: number | null): boolean =>
  key_id !== 0 && isOperator({ orgId, scopes: readScopes(key_scopes ?? '') })

/** Of an approval that is about to count, by the policy as it is now. Fails with 403; the request stays pending. */
export const checkDecider = async (db: Db, row: ApprovalRow, claim: DeviceClaim): Promise<void> => {
  const organization = await db
    .selectFrom('organizations')
    .where('id', '=', row.org_id)
    .select('policy')
    .executeTakeFirst()
  const { separation, not_requester } = JSON.parse(organization?.policy ?? '{}') as Policy
  if (separation !== 'strict' && !not_requester) return
  const key = await db
    .selectFrom('api_keys')
    .where('id', '=', row.key_id)
    .select(['org_id', 'owner_user_id'])
    .executeTakeFirst()
  if (not_requester && key?.owner_user_id === row.user_id) throw ownRequest()
  if (separation !== 'strict' || askedByOperator(row, key?.org_id ?? null)) return
  const { relation } = claim.enrolled_by
  if (row.key_influences === 1 && row.by_rule === 0) throw notSeparated()
  if (relation === 'self' || relation === 'creator' || (relation === 'unknown' && claim.proof === 'link'))
    throw new Refusal(
      403,
      'device_not_separated',
      'The key that enrolled this device is the one that asks, created it, or was not recorded, and the organization does not accept that (policy separation strict)',
      { hint: 'Approve with a device that somebody else enrolled: svc user enroll <user-id>' },
    )
}
