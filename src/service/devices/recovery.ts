import { forbidden, type Refusal } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import type { Member } from '../call/tenant.ts'
import { within, type Within } from '../keys/ancestry.ts'
import { isOperatorKey } from '../keys/scopes.ts'
import { activeDevices } from './active.ts'
import { adminRoles } from './administrators.ts'
import { findRoots } from './origin.ts'
import { findRelation, isSeparated } from './relation.ts'
import { isAuthenticDevice } from './rows.ts'

// Whoever asks for a recovery must not be able to approve it: a key that can create administrators and devices would become
// anybody. The operator is the root of trust.

type Deps = Pick<Call, 'db' | 'keyring'>
type Administrator = Member & { device_id: number }

/** The keys of organizations behind the link of a new device; undefined if one of them was not recorded. */
const askingKeys = async (deps: Within, device_id: number): Promise<number[] | undefined> => {
  const roots = await findRoots(deps, { device: device_id })
  return roots?.filter((key) => !isOperatorKey(key)).map(({ id }) => id)
}

/** Whether the keys that ask had no part in the administrator's device or role. */
const isIndependent = async (
  deps: Within,
  asking: readonly number[] | undefined,
  administrator: Administrator,
): Promise<boolean> => {
  if (!asking || !(await findRoots(deps, { administrator }))) return false
  for (const key of asking)
    if (!isSeparated((await findRelation(deps, key, { administrator })).relation)) return false
  return true
}

/** Why an administrator cannot approve the recovery with this device; undefined if they can. */
export const recoveryProblem = async (
  deps: Deps,
  device_id: number,
  administrator: Administrator,
): Promise<Refusal | undefined> => {
  const own = within(deps, administrator.org_id)
  return (await isIndependent(own, await askingKeys(own, device_id), administrator))
    ? undefined
    : forbidden(
        'recovery_not_separated',
        'The key that asked for this recovery may have appointed you or registered your device, so you cannot approve it',
        `Ask an administrator whom another key appointed, or the operator: svc user devices approve ${device_id} --org ${administrator.org_id} --comparison-code DIGITS`,
      )
}

/** Whether another administrator has a device that can approve this recovery. */
export const canAdministratorApprove = async (
  call: Deps & Pick<Call, 'now'>,
  { id, org_id, user_id }: Member & { id: number },
): Promise<boolean> => {
  const { db, now } = call
  // A software key cannot open the approver page.
  const others = await activeDevices(db, false)
    .where('m.org_id', '=', org_id)
    .where('m.user_id', '<>', user_id)
    .where('m.role', 'in', adminRoles)
    .where(({ or, and, eb }) =>
      or([
        eb('m.admin_from', 'is', null),
        and([eb('m.admin_from', '<=', now), eb('m.promoted_at', '<=', now)]),
      ]),
    )
    .selectAll('d')
    .execute()
  const own = within(call, org_id)
  const asking = await askingKeys(own, id)
  for (const row of others) {
    const administrator = { org_id, user_id: row.user_id, device_id: row.id }
    if (isAuthenticDevice(call, row) && (await isIndependent(own, asking, administrator))) return true
  }
  return false
}
