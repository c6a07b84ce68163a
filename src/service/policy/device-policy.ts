import type { Policy } from '../../contract/policy.ts'
import type { Call } from '../call/call.ts'

const day = 24 * 60 * 60

type Defaults = Pick<Call, 'dev' | 'deviceProof'>

/** What an organization requires of new devices, with the defaults filled in. */
export type DevicePolicy = {
  proof: 'link' | 'otp'
  recoveryDelayMs: number
  attestation: 'none' | 'direct'
  allowedAaguids: readonly string[]
  deviceBoundOnly: boolean
}

/** The same of a policy that is at hand. */
export const devicePolicyOf = (own: Policy, { dev, deviceProof }: Defaults): DevicePolicy => ({
  proof: own.device_proof ?? deviceProof,
  recoveryDelayMs: (own.recovery_delay_s ?? (dev ? 0 : day)) * 1000,
  // A model counts only where its maker vouches for it.
  attestation: own.allowed_aaguids?.length ? 'direct' : (own.attestation ?? 'none'),
  allowedAaguids: own.allowed_aaguids ?? [],
  deviceBoundOnly: own.device_bound_only ?? false,
})

export const readDevicePolicy = async (
  call: Pick<Call, 'db' | keyof Defaults>,
  org_id: number,
): Promise<DevicePolicy> => {
  const { policy } = await call.db
    .selectFrom('organizations')
    .where('id', '=', org_id)
    .select('policy')
    .executeTakeFirstOrThrow()
  return devicePolicyOf(JSON.parse(policy) as Policy, call)
}
