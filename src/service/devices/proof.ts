import type { Call } from '../call/call.ts'
import { devicesOf } from '../devices/active.ts'
import type { DevicePolicy } from '../policy/device-policy.ts'
import { changeDeviceRows, type DeviceRow, isAuthenticDevice } from './rows.ts'

export type Member = { org_id: number; user_id: number }
type Proof = DeviceRow['proof']
type Deps = Pick<Call, 'db' | 'dev' | 'keyring'>

/** A key file counts only with --dev. */
const countedDevices = ({ db, dev }: Deps, { org_id, user_id }: Member): Promise<DeviceRow[]> =>
  devicesOf(db, { org_id, user_id })
    .$if(!dev, (query) => query.where('kind', '=', 'phone'))
    .selectAll()
    .execute()

/** Whether the member has an authentic device that decides. */
export const hasActiveDevice = async (call: Deps, member: Member): Promise<boolean> =>
  (await countedDevices(call, member)).some((row) => row.state === 'active' && isAuthenticDevice(call, row))

/**
 * Whether the member ever had an active device, also before they were removed or deleted. One that another program has
 * changed counts as one: nobody gets a first device by spoiling the one that was there.
 */
export const everHadDevice = async (call: Deps, member: Member): Promise<boolean> =>
  (await countedDevices(call, member)).some((row) => row.bound_at !== null || !isAuthenticDevice(call, row))

/** What a device of this member must prove before it becomes active. */
export const proofRequired = async (
  call: Deps,
  member: Member,
  { proof }: Pick<DevicePolicy, 'proof'>,
): Promise<Proof> => {
  if (await hasActiveDevice(call, member)) return 'device'
  return (await everHadDevice(call, member)) ? 'admin' : proof
}

/**
 * What the pending devices of a member wait for, after another of their devices changed: an active one approves them,
 * and a recovery that was approved meanwhile is over. Without any, an administrator does.
 */
export const settlePending = async (call: Deps, member: Member): Promise<void> => {
  const hasActive = await hasActiveDevice(call, member)
  if (!hasActive && !(await everHadDevice(call, member))) return
  const values = hasActive
    ? ({ proof: 'device', approved_at: null, active_from: null } as const)
    : ({ proof: 'admin' } as const)
  await changeDeviceRows(call, values, (devices) =>
    devices
      .where('org_id', '=', member.org_id)
      .where('user_id', '=', member.user_id)
      .where('state', '=', 'pending'),
  )
}
