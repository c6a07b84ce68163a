import type { SourcedFactor } from '../../contract/auth.ts'
import { decide, type Evidence, type Policy } from '../../rules/decide.ts'
import { byService } from './verification.ts'

type Verdict = 'PASS' | 'FAIL'

export type Posted = { biometric_result: Verdict; geo_fence_result: Verdict }

const asserted = (factor: string, result: Verdict): SourcedFactor => ({
  factor,
  policy: 'required',
  result,
  reason: `the caller says ${result}`,
  expected: 'PASS',
  observed: result,
  source: 'caller',
})

/**
 * Joins what a caller posts with what the rules say now and with what the service captured when the person answered
 * on the phone (`captured`; empty where no phone was asked). A caller's FAIL always counts; its PASS only where the
 * service does not know better.
 */
export const evaluate = (
  rules: Policy,
  evidence: Evidence,
  posted: Posted,
  captured: readonly SourcedFactor[],
): { allow: boolean; factors: SourcedFactor[] } => {
  const needed = ['biometric', 'device'] as const
  const ruled = decide(
    {
      ...rules,
      required: [...new Set([...rules.required, ...needed])],
      reportOnly: rules.reportOnly.filter((factor) => factor !== 'biometric' && factor !== 'device'),
    },
    evidence,
  )
  const known = (name: string): SourcedFactor | undefined =>
    captured.find(({ factor, policy }) => factor === name && policy !== null)
  const said: Record<string, SourcedFactor> = {
    biometric: asserted('biometric', posted.biometric_result),
    location: asserted('location', posted.geo_fence_result),
  }
  const factors = ruled.factors.map((one): SourcedFactor => {
    const claim = said[one.factor]
    if (claim) return claim.result === 'FAIL' ? claim : (known(one.factor) ?? claim)
    // Who posts is seldom where the phone is.
    return (one.factor === 'ip' ? known('ip') : undefined) ?? byService(one)
  })
  const decision = known('decision')
  const all = decision ? [decision, ...factors] : factors
  return {
    allow: all.every(({ policy, result }) => policy !== 'required' || result === 'PASS'),
    factors: all,
  }
}
