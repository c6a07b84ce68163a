import {
  SettingsService,
  verifyRegistrationResponse,
  type RegistrationResponseJSON,
} from '@simplewebauthn/server'
import { decodeAttestationObject, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { softwareAaguid } from '../../client/software-authenticator.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Authenticator } from '../policy/device-policy.ts'
import type { Site } from './site.ts'

const algorithms = [-7, -8, -257] as const
type Algorithm = (typeof algorithms)[number]

/**
 * The library accepts any certificate chain of a format that it has no roots for, and a key that vouches for itself.
 * Neither proves anything.
 */
const isVouched = (format: string, attestationObject: Uint8Array<ArrayBuffer>): boolean =>
  SettingsService.getRootCertificates({ identifier: format as 'apple' }).length > 0 &&
  decodeAttestationObject(attestationObject).get('attStmt').get('x5c') !== undefined

const attachmentOf = ({ authenticatorAttachment: stated }: RegistrationResponseJSON) =>
  stated === 'platform' || stated === 'cross-platform' ? stated : null

/**
 * Where the key is. The authenticator says whether its key is synced, and the certificate of a phone's maker that it is in
 * the phone. For the rest there is only the word of the browser. Without it, the key is of no known kind.
 */
const authenticatorOf = (
  { authenticatorAttachment, response: { transports = [] } }: RegistrationResponseJSON,
  { synced, vouched }: { synced: boolean; vouched: boolean },
): Authenticator | undefined => {
  if (synced) return 'synced'
  // A phone that was used from a computer reports both `hybrid` and `internal`.
  if (vouched || authenticatorAttachment === 'platform' || transports.includes('internal')) return 'platform'
  return authenticatorAttachment === 'cross-platform' || transports.length > 0 ? 'security_key' : undefined
}

/**
 * Verifies a RegistrationResponseJSON. User verification is required. Returns the key of the new device, bytes as base64url. Fails
 * with 422.
 */
export const verifyRegistration = async (posted: unknown, site: Site, challenge: string) => {
  const response = posted as RegistrationResponseJSON
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rp_id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    })
    if (!verified) throw new Error('the attestation is not valid')
    const { credential, aaguid, fmt, attestationObject, credentialDeviceType, credentialBackedUp } =
      registrationInfo
    const synced = credentialDeviceType === 'multiDevice'
    const vouched = isVouched(fmt, attestationObject)
    const algorithm = decodeCredentialPublicKey(credential.publicKey).get(3) as Algorithm
    return {
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey).toString('base64url'),
      algorithm,
      counter: credential.counter,
      /** It identifies itself as a key file. */
      software: aaguid === softwareAaguid,
      aaguid,
      backup_eligible: synced ? (1 as const) : (0 as const),
      backed_up: credentialBackedUp ? (1 as const) : (0 as const),
      /** Only stated by the browser. */
      attachment: attachmentOf(response),
      attestation_format: fmt,
      /** Its maker vouches for the model: a certificate of the maker signed the key. */
      vouched,
      authenticator: authenticatorOf(response, { synced, vouched }),
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'it cannot be read'
    throw new Refusal(422, 'registration_refused', `The registration is not valid: ${problem}`, {
      issues: [{ field: 'response', message: problem }],
      hint: 'Register again, with a new link: svc user enroll',
    })
  }
}
