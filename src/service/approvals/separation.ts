import type { Policy } from '../../contract/policy.ts'
import { conflict, forbidden, type Refusal } from '../../core/refusal.ts'
import type { DeviceClaim, Relation } from '../../receipt/claims.ts'
import type { Call } from '../call/call.ts'
import { type Caller, isOperator, namedKeyOf } from '../call/caller.ts'
import { type Member, organizationRow } from '../call/tenant.ts'
import { type CountedBy, countedDevices, ofActiveDevice } from '../devices/active.ts'
import type { DeviceRow } from '../devices/rows.ts'
import { findOwners } from '../devices/origin.ts'
import { findRelation, isSeparated, relationsTo } from '../devices/relation.ts'
import { authenticKey, mayInfluence, within } from '../keys/ancestry.ts'
import { readScopes } from '../keys/scopes.ts'
import { isOwnConsent, readLines } from './lines.ts'
import type { ApprovalRow, BallotRow } from './rows.ts'

// The requester must not be able to act as the approver.

const ownRequest = (): Refusal =>
  forbidden(
    'approver_is_requester',
    'The requesting key, or a key that created it, belongs to the approver, and the organization does not allow that (policy not_requester)',
    'Choose another approver',
  )

const requesterUnknown = (): Refusal =>
  forbidden(
    'requester_unknown',
    'Which keys created the requesting key is not known, and the organization requires that none belongs to the approver (policy not_requester)',
    'Use another key: svc key create --can ask',
  )

const notSeparated = (): Refusal =>
  forbidden(
    'not_separated',
    'The requesting key can influence who approves, and the organization does not allow that (policy separation strict)',
    'Use a key that can only ask: svc key create --can ask',
  )

/** Refuses the owners of a key, and of the keys above it (`findOwners`), as its approvers. */
const refuseOwners = (owners: ReadonlySet<number> | undefined, approver: { user_id: number }): void => {
  if (!owners) throw requesterUnknown()
  if (owners.has(approver.user_id)) throw ownRequest()
}

/** What is known of the requesting key, read once for all who could be asked. */
export type Requester = {
  caller: Caller
  /** Under the policy `not_requester`: who owns it, or a key above it; undefined if that is not known. */
  owners: ReadonlySet<number> | undefined
  relationTo: ReturnType<typeof relationsTo>
}

export const readRequester = async (
  call: Call,
  orgId: number,
  { not_requester }: Policy,
): Promise<Requester> => {
  const key = namedKeyOf(call.caller)
  const own = within(call, orgId)
  const owners = not_requester ? await findOwners(own, key) : undefined
  return { caller: call.caller, owners, relationTo: relationsTo(own, key) }
}

/** Checks the requesting key before anybody is notified. Fails with 403. */
export const checkRequester = (
  { caller, owners }: Requester,
  approver: { user_id: number },
  { separation, not_requester }: Policy,
  byRule: boolean,
): void => {
  if (not_requester) refuseOwners(owners, approver)
  // Rules exist for the writes of such keys, so a rule's own request is exempt. The operator is trusted.
  if (separation === 'strict' && !byRule && mayInfluence(caller) && !isOperator(caller)) throw notSeparated()
}

/** How the device was registered, and the key behind it that is most closely related to the requesting key. */
export const readDeviceClaim = async (
  deps: Pick<Call, 'db' | 'keyring'>,
  row: Pick<ApprovalRow, 'asked_by' | 'org_id'>,
  { id, proof, bound_at }: DeviceRow,
): Promise<DeviceClaim> => {
  const { relation, root } = await findRelation(within(deps, row.org_id), row.asked_by, { device: id })
  const enrolled_by = { key_id: root ? String(root.id) : null, name: root?.name ?? null, relation }
  // `findDecider` refuses one that never was active.
  return { id: String(id), proof, bound_at: bound_at!, enrolled_by }
}

/** Under `strict`, at least one device must be able to approve. Checked before anybody is notified; fails with 409. */
export const checkDevices = async (
  call: CountedBy,
  { caller, relationTo }: Requester,
  approver: Member,
  { separation }: Policy,
): Promise<void> => {
  if (separation !== 'strict' || isOperator(caller)) return
  for (const { id } of await countedDevices(call, approver).where(ofActiveDevice('devices')).execute())
    if (isSeparated((await relationTo({ device: id })).relation)) return
  throw conflict(
    'approver_not_separated',
    'Every device of the approver goes back to the requester, to a key behind the requester, or to an unrecorded key',
    'The organization requires another device (policy separation strict): svc user enroll, with another key',
  )
}

/** Whether a yes with a device of this relation counts on a line. */
export const countsOn = ({ separated }: { separated: boolean }, relation: Relation): boolean =>
  !separated || (relation !== 'self' && relation !== 'unknown')

/**
 * Applies the lines and the current policy to an approval that is about to count. Fails with 403; the request stays pending.
 */
export const checkDecider = async (
  deps: Pick<Call, 'db' | 'keyring'>,
  { row, ballot }: { row: ApprovalRow; ballot: BallotRow },
  claim: DeviceClaim,
): Promise<void> => {
  const { db } = deps
  const lines = readLines(row)
  const own = lines.filter(({ people }) => people.some(({ user_id }) => user_id === ballot.user_id))
  if (!own.some((line) => countsOn(line, claim.enrolled_by.relation)))
    throw forbidden(
      'not_separated',
      'This device goes back to the requesting key, or to an unrecorded key, so its approval does not count here',
      'Approve with a device that someone else enrolled: svc user enroll. Denying the request is always possible',
    )
  const { policy } = await organizationRow(db, row.org_id)
  const { separation } = policy
  const not_requester = policy.not_requester && !isOwnConsent(row.by_rule === 1, lines)
  if (separation !== 'strict' && !not_requester) return
  const keys = within(deps, row.org_id)
  if (not_requester) refuseOwners(await findOwners(keys, row.asked_by), ballot)
  const key = await authenticKey(keys, row.key_id)
  const isTrusted = key && isOperator({ orgId: key.org_id, scopes: readScopes(row.key_scopes) })
  if (separation !== 'strict' || isTrusted) return
  if (row.key_influences === 1 && row.by_rule === 0) throw notSeparated()
  if (!isSeparated(claim.enrolled_by.relation))
    throw forbidden(
      'device_not_separated',
      'This device goes back to the requester, to a key behind the requester, or to an unrecorded key, and the organization does not allow that (policy separation strict)',
      'Approve with a device that someone else enrolled: svc user enroll',
    )
}
