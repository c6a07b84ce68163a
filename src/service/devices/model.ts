import { Refusal } from '../../core/refusal.ts'
import type { DevicePolicy } from '../policy/device-policy.ts'

type Model = { aaguid: string; backup_eligible: 0 | 1; attestation_format: string; vouched: boolean }

const refused = (code: string, message: string, hint: string): Refusal =>
  new Refusal(403, code, message, { hint })

/** Refuses with 403 a device that the organization does not accept. */
export const checkModel = (
  { aaguid, backup_eligible, attestation_format, vouched }: Model,
  { attestation, allowedAaguids, deviceBoundOnly }: DevicePolicy,
): void => {
  if (deviceBoundOnly && backup_eligible === 1)
    throw refused(
      'key_can_be_copied',
      'The key of this device can be copied to other devices, which the organization does not accept',
      'Register a device that keeps its key, such as a security key',
    )
  if (attestation === 'none') return
  if (!vouched)
    throw refused(
      'attestation_required',
      `The organization accepts only devices whose maker proves their model, and this one came with the attestation "${attestation_format}"`,
      'Register another device, or ask your administrator about the policy attestation',
    )
  if (allowedAaguids.length > 0 && !allowedAaguids.includes(aaguid))
    throw refused(
      'model_not_allowed',
      `The organization does not accept devices of the model ${aaguid}`,
      'Register another device, or ask your administrator about the policy allowed_aaguids',
    )
}
