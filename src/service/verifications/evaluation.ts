import type { SourcedFactor } from '../../contract/auth.ts'
import { decide, type Evidence, type FactorDecision, type Policy } from '../../rules/decide.ts'
import { byService } from './verification.ts'

type PostedResult = 'PASS' | 'FAIL'

export type Posted = { biometric_result: PostedResult; geo_fence_result: PostedResult }

const asserted = (factor: string, result: PostedResult): SourcedFactor => ({
  factor,
  policy: 'required',
  result,
  reason: `the caller reports ${result}`,
  expected: 'PASS',
  observed: result,
  source: 'caller',
})

const byCaller = (factor: FactorDecision): SourcedFactor => ({ ...factor, source: 'caller' })

/** What is known when results are posted, besides what they say. */
export type Known = {
  /** What the service captured when the person answered on the phone; empty where nobody has. */
  captured: readonly SourcedFactor[]
  /** The device is one of this user's: then it is checked, whatever is configured. */
  isDeviceKnown: boolean
}

/** What the rules say, with a known device held to them even where trust in devices is not configured or only reported. */
const rule = (rules: Policy, evidence: Evidence, { isDeviceKnown }: Known) => {
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
 * Joins what a caller posts with what the rules say now and with what the service captured. A caller's FAIL always
 * counts; its PASS only where the service does not know better. A place that is posted is checked against the fences, and
 * stays the word of the caller.
 */
export const evaluate = (
  rules: Policy,
  evidence: Evidence,
  posted: Posted,
  known: Known,
): { allow: boolean; factors: SourcedFactor[] } => {
  const capturedOf = (name: string): SourcedFactor | undefined =>
    known.captured.find(({ factor, policy }) => factor === name && policy !== null)
  const said: Record<string, SourcedFactor> = {
    biometric: asserted('biometric', posted.biometric_result),
    location: asserted('location', posted.geo_fence_result),
  }
  const factors = rule(rules, evidence, known).factors.map((one): SourcedFactor => {
    const claim = said[one.factor]
    // Who posts is seldom where the phone is.
    if (!claim) return (one.factor === 'ip' ? capturedOf('ip') : undefined) ?? byService(one)
    if (claim.result === 'FAIL') return claim
    const isPlaceChecked = one.factor === 'location' && one.policy !== null && evidence.location !== undefined
    return capturedOf(one.factor) ?? (isPlaceChecked ? byCaller(one) : claim)
  })
  const decision = capturedOf('decision')
  const all = decision ? [decision, ...factors] : factors
  return {
    allow: all.every(({ policy, result }) => policy !== 'required' || result === 'PASS'),
    factors: all,
  }
}
