import type { Call } from '../call/call.ts'
import { type Member, ofMember } from '../call/tenant.ts'
import type { DevicePolicy } from '../policy/device-policy.ts'
import { type CountedBy, countedDevices, ofActiveDevice } from './active.ts'
import { changeDeviceRows, type DeviceRow, isAuthenticDevice } from './rows.ts'

type Deps = CountedBy & Pick<Call, 'keyring'>

/** Whether the member has an authentic active device. */
export const hasActiveDevice = async (call: Deps, member: Member): Promise<boolean> => {
  const active = await countedDevices(call, member).where(ofActiveDevice('devices')).execute()
  return active.some((row) => isAuthenticDevice(call, row))
}

/**
 * Whether the member ever had an active device, even before they were removed or deleted. A device that another program
 * has changed counts, so that spoiling a device is no way to register a first one.
 */
export const everHadDevice = async (call: Deps, member: Member): Promise<boolean> => {
  const devices = await countedDevices(call, member).execute()
  return devices.some((row) => row.bound_at !== null || !isAuthenticDevice(call, row))
}

/** What a new device of this member must prove before it becomes active. */
export const requiredProof = async (
  call: Deps,
  member: Member,
  { proof }: Pick<DevicePolicy, 'proof'>,
): Promise<DeviceRow['proof']> => {
  if (await hasActiveDevice(call, member)) return 'device'
  return (await everHadDevice(call, member)) ? 'admin' : proof
}

/**
 * Updates what the pending devices of a member wait for, after another device changed: an active device must approve
 * them, and an approved recovery is over. Without an active device, an administrator must.
 */
export const settlePending = async (call: Deps, member: Member): Promise<void> => {
  const hasActive = await hasActiveDevice(call, member)
  if (!hasActive && !(await everHadDevice(call, member))) return
  const values = hasActive
    ? ({
        proof: 'device',
        approved_at: null,
        active_from: null,
        approved_by: null,
        approved_by_key: null,
      } as const)
    : ({ proof: 'admin' } as const)
  await changeDeviceRows(call, values, (devices) =>
    devices.where(ofMember(member)).where('state', '=', 'pending'),
  )
}
