import type { auth, SourcedFactor } from '../../contract/auth.ts'
import { decide, type Evidence, type Policy } from '../../rules/decide.ts'
import type { RowInput } from '../call/row-ids.ts'
import { withSource } from './verification.ts'

type Posted = Pick<RowInput<typeof auth.submitAuthResults>, 'biometric_result' | 'geo_fence_result'>

const asserted = (factor: string, result: 'PASS' | 'FAIL'): SourcedFactor => ({
  factor,
  policy: 'required',
  result,
  reason: `the caller reports ${result}`,
  expected: 'PASS',
  observed: result,
  source: 'caller',
})

/** What the service knows itself when results are posted. */
type Known = {
  /** What the service captured when the person answered on the phone; empty if the person did not. */
  captured: readonly SourcedFactor[]
  /** Whether the device is one of this user's. It is then checked, whatever the policy is. */
  isDeviceKnown: boolean
}

/** Applies the rules. They always require the biometric check and, if it is known, the device. */
const applyRules = (rules: Policy, evidence: Evidence, { isDeviceKnown }: Known) => {
  const needed = isDeviceKnown ? (['biometric', 'device'] as const) : (['biometric'] as const)
  return decide(
    {
      ...rules,
      required: [...new Set([...rules.required, ...needed])],
      reportOnly: rules.reportOnly.filter((factor) => !needed.some((one) => one === factor)),
    },
    evidence,
  )
}

/**
 * Combines the posted results with the rules and with what the service captured. A caller's FAIL always counts, its PASS
 * only if the service does not know better. A posted location is checked against the geofences, and stays a claim of the
 * caller.
 */
export const evaluate = (
  rules: Policy,
  evidence: Evidence,
  posted: Posted,
  known: Known,
): { allow: boolean; factors: SourcedFactor[] } => {
  const capturedOf = (name: string): SourcedFactor | undefined =>
    known.captured.find(({ factor, policy }) => factor === name && policy !== null)
  const claims: Record<string, SourcedFactor> = {
    biometric: asserted('biometric', posted.biometric_result),
    location: asserted('location', posted.geo_fence_result),
  }
  const factors = applyRules(rules, evidence, known).factors.map((one): SourcedFactor => {
    const claim = claims[one.factor]
    // The caller is seldom where the phone is.
    if (!claim) return (one.factor === 'ip' ? capturedOf('ip') : undefined) ?? withSource(one, 'service')
    if (claim.result === 'FAIL') return claim
    const isLocationChecked =
      one.factor === 'location' && one.policy !== null && evidence.location !== undefined
    return capturedOf(one.factor) ?? (isLocationChecked ? withSource(one, 'caller') : claim)
  })
  const decision = capturedOf('decision')
  const all = decision ? [decision, ...factors] : factors
  return {
    allow: all.every(({ policy, result }) => policy !== 'required' || result === 'PASS'),
    factors: all,
  }
}
