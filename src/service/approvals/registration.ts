import { verifyRegistrationResponse, type RegistrationResponseJSON } from '@simplewebauthn/server'
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { softwareAaguid } from '../../client/software-authenticator.ts'
import { Refusal } from '../refusal.ts'
import type { Site } from './site.ts'

const algorithms = [-7, -8, -257] as const
type Algorithm = (typeof algorithms)[number]

/** A key that is fit to decide with. Bytes are base64url. */
export type Registered = {
  credential_id: string
  public_key: string
  algorithm: Algorithm
  counter: number
  /** It says of itself that it is a key file. */
  software: boolean
}

const refused = (problem: string): Refusal =>
  new Refusal(422, 'registration_refused', `The registration does not count: ${problem}`, {
    issues: [{ field: 'response', message: problem }],
    hint: 'Register again, with a new link: svc user enroll <user-id>',
  })

/** Checks a RegistrationResponseJSON; user verification is required. Fails with a Refusal 422. */
export const verifyRegistration = async (
  response: unknown,
  site: Site,
  challenge: string,
): Promise<Registered> => {
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: site.origin,
      expectedRPID: site.rp_id,
      requireUserVerification: true,
      supportedAlgorithmIDs: [...algorithms],
    })
    if (!verified) throw new Error('the attestation does not hold')
    const { credential, aaguid } = registrationInfo
    const algorithm = decodeCredentialPublicKey(credential.publicKey).get(3) as Algorithm
    return {
      credential_id: credential.id,
      public_key: Buffer.from(credential.publicKey).toString('base64url'),
      algorithm,
      counter: credential.counter,
      software: aaguid === softwareAaguid,
    }
  } catch (error) {
    throw refused(error instanceof Error ? error.message : 'it cannot be read')
  }
}
