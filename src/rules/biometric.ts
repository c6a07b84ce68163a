import { cannotTell, fail, pass, type Verdict } from './verdict.ts'

/** What the device attests. It cannot tell face from fingerprint from PIN, so neither do we. */
export type Biometric = { user_verified: boolean }

export const checkBiometric = (biometric: unknown): Verdict => {
  if (biometric === undefined || biometric === null) return cannotTell('no device check was made')
  const { user_verified } = biometric as Record<string, unknown>
  if (typeof user_verified !== 'boolean') return cannotTell('the device check cannot be read')
  const say = user_verified ? pass : fail
  return say(
    user_verified ? 'the device verified its user' : 'the device did not verify its user',
    { user_verified: true },
    { user_verified },
  )
}
