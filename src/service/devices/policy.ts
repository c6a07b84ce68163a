import type { Policy } from '../../contract/policy.ts'
import type { Call } from '../call.ts'

const day = 24 * 60 * 60

type Reach = Pick<Call, 'db' | 'dev' | 'deviceProof'>

/** What an organization requires of new devices, with the defaults filled in. */
export type DevicePolicy = {
  proof: 'link' | 'otp'
  recoveryDelayMs: number
  attestation: 'none' | 'direct'
  allowedAaguids: readonly string[]
  deviceBoundOnly: boolean
}

export const readDevicePolicy = async (
  { db, dev, deviceProof }: Reach,
  org_id: number,
): Promise<DevicePolicy> => {
  const { policy } = await db
    .selectFrom('organizations')
    .where('id', '=', org_id)
    .select('policy')
    .executeTakeFirstOrThrow()
  const own = JSON.parse(policy) as Policy
  return {
    proof: own.device_proof ?? deviceProof,
    recoveryDelayMs: (own.recovery_delay_s ?? (dev ? 0 : day)) * 1000,
    // A model counts only where its maker vouches for it.
    attestation: own.allowed_aaguids?.length ? 'direct' : (own.attestation ?? 'none'),
    allowedAaguids: own.allowed_aaguids ?? [],
    deviceBoundOnly: own.device_bound_only ?? false,
  }
}
