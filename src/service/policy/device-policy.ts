import { authenticators, type Policy } from '../../contract/policy.ts'
import { forbidden, invalid } from '../../core/refusal.ts'
import type { Call } from '../call/call.ts'
import { organizationRow } from '../call/tenant.ts'

const day = 24 * 60 * 60

type Defaults = Pick<Call['service'], 'dev' | 'deviceProof'>

/** Where the key of a device is. */
export type Authenticator = (typeof authenticators)[number]

/** What an organization requires of new devices, with the defaults filled in. */
export type DevicePolicy = {
  proof: 'link' | 'otp'
  recoveryDelayMs: number
  attestation: 'none' | 'direct'
  allowedAaguids: readonly string[]
  deviceBoundOnly: boolean
  authenticators: readonly Authenticator[]
}

export const devicePolicyOf = (own: Policy, { dev, deviceProof }: Defaults): DevicePolicy => ({
  proof: own.device_proof ?? deviceProof,
  recoveryDelayMs: (own.recovery_delay_s ?? (dev ? 0 : day)) * 1000,
  // The model is only reliable if its maker attests it.
  attestation: own.allowed_aaguids?.length ? 'direct' : (own.attestation ?? 'none'),
  allowedAaguids: own.allowed_aaguids ?? [],
  deviceBoundOnly: own.device_bound_only ?? false,
  authenticators: authenticators.filter(
    (one) =>
      (!own.authenticators?.length || own.authenticators.includes(one)) &&
      (one !== 'synced' || !own.device_bound_only),
  ),
})

/** Seconds after which a person signs in again on a terminal: by default, after a day of work. */
export const sessionMaxOf = ({ session_max_s = 28_800 }: Policy): number => session_max_s

/** Throws 422 if no device could satisfy a policy. */
export const refuseImpossible = (policy: Policy, defaults: Defaults): void => {
  const { attestation, authenticators: allowed } = devicePolicyOf(policy, defaults)
  if (allowed.length === 0)
    throw invalid('policy.authenticators', 'allows only synced passkeys, which device_bound_only refuses')
  if (attestation === 'direct' && !allowed.includes('platform'))
    throw invalid(
      'policy.authenticators',
      'must contain platform with attestation direct, because only the certificates of phones can be verified',
    )
}

export const readDevicePolicy = async (
  { db, service }: Pick<Call, 'db' | 'service'>,
  org_id: number,
): Promise<DevicePolicy> => devicePolicyOf((await organizationRow(db, org_id)).policy, service)

type Model = {
  aaguid: string
  backup_eligible: 0 | 1
  attestation_format: string
  vouched: boolean
  /** Undefined if neither the authenticator nor the browser says. */
  authenticator: Authenticator | undefined
}

const names: Record<Authenticator, string> = {
  platform: 'keys that stay on a phone or computer',
  synced: 'synced passkeys',
  security_key: 'security keys',
}

/** Throws 403 for a device that the organization does not accept. */
export const checkModel = (
  { aaguid, backup_eligible, attestation_format, vouched, authenticator }: Model,
  { attestation, allowedAaguids, deviceBoundOnly, authenticators: allowed }: DevicePolicy,
): void => {
  if (deviceBoundOnly && backup_eligible === 1)
    throw forbidden(
      'key_can_be_copied',
      'The key of this device can be copied to other devices, which the organization does not accept',
      'Register a device whose key cannot be copied, such as a security key',
    )
  if (allowed.length < authenticators.length && (!authenticator || !allowed.includes(authenticator)))
    throw forbidden(
      'authenticator_not_allowed',
      `The organization accepts only ${allowed.map((one) => names[one]).join(' and ')}${authenticator ? `, not ${names[authenticator]}` : ', and this device does not say what it is'}`,
      'Register another device, or ask your administrator about the policy authenticators',
      { allowed, authenticator: authenticator ?? null },
    )
  if (attestation === 'none') return
  if (!vouched)
    throw forbidden(
      'attestation_required',
      `The organization accepts only devices whose maker proves their model, and this one came with the attestation "${attestation_format}"`,
      'Register another device, or ask your administrator about the policy attestation',
    )
  if (allowedAaguids.length > 0 && !allowedAaguids.includes(aaguid))
    throw forbidden(
      'model_not_allowed',
      `The organization does not accept devices of the model ${aaguid}`,
      'Register another device, or ask your administrator about the policy allowed_aaguids',
    )
}
