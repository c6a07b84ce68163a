import { cannotTell, fail, pass, type Verdict } from './verdict.ts'

/** What the device reports. It does not say whether the person used face, fingerprint or PIN. */
export type Biometric = { user_verified: boolean }

export const checkBiometric = (biometric: unknown): Verdict => {
  if (biometric === undefined || biometric === null)
    return cannotTell('the device reported no user verification')
  const { user_verified } = biometric as Record<string, unknown>
  if (typeof user_verified !== 'boolean')
    return cannotTell('the user verification of the device cannot be read')
  return (user_verified ? pass : fail)(
    user_verified ? 'the device verified its user' : 'the device did not verify its user',
    { user_verified: true },
    { user_verified },
  )
}
